# `make demo` and `make test` set up what they need; nothing has to be installed by hand but Python, a JDK and Maven.

SHELL := bash
.DEFAULT_GOAL := help

VENV := .venv
PY := $(VENV)/bin/python
WORK := .make
INSTALLED := $(VENV)/.installed
JAR := flink_agents_subagent/lib/flink-agents-subagent.jar
# Folders too: their times change when a file is removed.
JAVA_SOURCES := java-bridge/pom.xml $(shell find java-bridge/src/main 2>/dev/null)

export MAVEN ?= mvn
export PYTHONUNBUFFERED := 1

.PHONY: help demo test check bench broker simulate e2e jar format clean

help: ## List the targets
	@echo "make <target>, where the target is one of"
	@grep -hE '^[a-z0-9]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9]+):.*## (.*)/  \1\t\2/' | expand -t 14
	@echo "Settings: PYTHON (3.10 to 3.12), JAVA_HOME (a JDK 17 or newer), MAVEN."

demo: $(INSTALLED) $(JAR) ## Set everything up and run the example job
	@$(PY) -m examples.demo

test: $(INSTALLED) $(JAR) ## Set everything up and run the Java and the Python tests
	@$(PY) scripts/run_tests.py

check: $(INSTALLED) ## Check format, lint, types, imports and the Java build
	@scripts/check_java.sh
	@$(PY) scripts/run_checks.py

bench: $(INSTALLED) $(JAR) ## Run the benchmarks and print one table
	@$(PY) -m bench

broker: $(INSTALLED) ## Run a Kafka broker until Ctrl-C
	@$(PY) -m e2e.harness.broker

simulate: $(INSTALLED) ## Run the crash simulations with many more generated agents
	@$(PY) -m pytest tests/simulation --hypothesis-profile=thorough --timeout=0

e2e: $(INSTALLED) $(JAR) ## Run every reliability scenario on a real cluster and broker (SEED=, TIMES=)
	@rm -f $(WORK)/e2e.jsonl
	@$(PY) -m e2e.scenarios --results $(WORK)/e2e.jsonl $(if $(SEED),--seed $(SEED)) $(if $(TIMES),--times $(TIMES))
	@$(PY) -m e2e.scenarios.table $(WORK)/e2e.jsonl docs/reliability.md

jar: $(JAR) ## Build the Java half into the Python package
	@echo "$(JAR) is up to date."

format: $(INSTALLED) ## Format the Python and the Java sources
	@scripts/check_java.sh
	@$(PY) -m ruff format .
	@$(PY) -m ruff check --fix .
	@scripts/step.sh java-format "Formatting the Java sources" $(MAVEN) -B -ntp -f java-bridge/pom.xml spotless:apply

clean: ## Remove what was built, the virtual environment included
	rm -rf $(VENV) $(WORK) java-bridge/target e2e/broker/target $(dir $(JAR)) dist build
	find . -name __pycache__ -type d -not -path './.*' -prune -exec rm -rf {} +
	rm -rf .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis .coverage

$(INSTALLED): pyproject.toml
	@scripts/install.sh $(VENV)
	@touch $@

$(JAR): $(JAVA_SOURCES)
	@scripts/check_java.sh
	@scripts/step.sh jar "Building the Java half (the first build downloads Flink)" \
	  $(MAVEN) -B -ntp -f java-bridge/pom.xml package -Dmaven.test.skip=true
	@touch $@
