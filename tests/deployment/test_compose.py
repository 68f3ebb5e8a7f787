"""docker-compose.yml is a valid Compose file that holds together with the Dockerfile."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import subprocess
from pathlib import Path

import jsonschema
import pytest
from ruamel.yaml import YAML

from e2e.harness.maven import resolved_jars
from examples.kafka_to_kafka import image
from tests.deployment.compose import COMPOSE, ROOT, command, services

_DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
_JARS = "/opt/connector/"


def _has_compose() -> bool:
    docker = shutil.which("docker")
    return docker is not None and subprocess.run([docker, "compose", "version"], capture_output=True).returncode == 0  # noqa: PLW1510, S603 - a question


def test_the_file_keeps_to_the_compose_specification() -> None:
    """The schema that Docker Compose itself applies (Compose specification, Apache License 2.0) finds no fault."""
    schema = json.loads(Path(__file__).with_name("compose-spec.json").read_text(encoding="utf-8"))
    validator = jsonschema.Draft7Validator(schema)

    assert [error.message for error in validator.iter_errors(COMPOSE)] == []
    assert list(validator.iter_errors({"services": {"kafka": {"imagee": "typo"}}})) != []


@pytest.mark.skipif(not _has_compose(), reason="there is no docker compose here; the schema is checked in any case")
def test_docker_compose_takes_the_file() -> None:
    """`docker compose config` resolves it."""
    done = subprocess.run(  # noqa: S603 - our own file
        ["docker", "compose", "-f", str(ROOT / "docker-compose.yml"), "config", "-q"],  # noqa: S607
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr


def test_services_need_only_services_that_are_there() -> None:
    """Whatever one waits for exists, and has a health check where its health is waited for."""
    known = services()

    for name, service in known.items():
        needed = service.get("depends_on", {})
        for other in needed:
            assert other in known, name
            if isinstance(needed, dict) and needed[other]["condition"] == "service_healthy":
                assert "healthcheck" in known[other], f"{name} waits for the health of {other}"
    assert {volume.split(":")[0] for service in known.values() for volume in service.get("volumes", [])} == set(
        COMPOSE["volumes"]
    )


def test_modules_that_containers_run_are_there() -> None:
    """Each `python -m` names a module of this project, each script a file of it."""
    words = [command(name) for name in services()] + [line.split() for line in re.findall(r"RUN (.*)", _DOCKERFILE)]
    modules = [line[line.index("-m") + 1] for line in words if line[:1] == ["python"] and "-m" in line]
    (script,) = [word for word in command("job") if word.endswith(".py")]

    assert len(modules) == 4
    assert [name for name in modules if name != "venv" and importlib.util.find_spec(name) is None] == []
    assert (ROOT / script.partition("/site-packages/")[2]).is_file()


def test_all_paths_are_of_the_python_that_the_image_has() -> None:
    """The version of the base image stands in every path into its environment, and the package supports it."""
    (version,) = set(re.findall(r"FROM python:(\d+\.\d+)-", _DOCKERFILE))

    found = re.findall(r"python(\d\.\d+)/", _DOCKERFILE + json.dumps(COMPOSE))

    assert set(found) == {version}
    assert f"Programming Language :: Python :: {version}" in (ROOT / "pyproject.toml").read_text(encoding="utf-8")


def test_the_image_has_the_flink_set_up_that_agents_need(tmp_path: Path) -> None:
    """Where the environment of the image points lie the libraries and settings of a session cluster [P1]."""
    image.write_setup(tmp_path / "flink")

    config = YAML(typ="safe").load(tmp_path / "flink" / "conf" / "config.yaml")
    assert config["classloader.parent-first-patterns.additional"] == "pemja."
    assert list((tmp_path / "flink" / "lib").glob("flink-python-*.jar")) != []
    assert config["jobmanager.rpc.address"] == config["rest.address"] == "jobmanager"
    assert "taskmanager.host" not in config
    assert config["execution.checkpointing.dir"] == "file:///data/checkpoints"
    assert config["python.executable"] == "/opt/venv/bin/python"
    assert "--add-opens" in config["env.java.opts.all"]
    assert "FLINK_CONF_DIR=/opt/flink/conf" in _DOCKERFILE
    assert "FLINK_LIB_DIR=/opt/flink/lib" in _DOCKERFILE
    assert "RUN python -m examples.kafka_to_kafka.image /opt/flink\n" in _DOCKERFILE


@pytest.mark.cluster
def test_the_job_gets_the_jars_that_maven_finds() -> None:
    """The connector's jars have the names under which the image's build copies them."""
    named = [word.removeprefix(_JARS) for word in command("job") if word.startswith(_JARS)]

    assert sorted(named) == sorted(jar.name for jar in resolved_jars(ROOT / "examples" / "kafka_to_kafka"))
