#!/usr/bin/env bash
# Succeed if a JDK 17 or newer and Maven 3.8 or newer are at hand, or say what is missing.
set -euo pipefail

maven=${MAVEN:-mvn}

if [[ -n "${JAVA_HOME:-}" ]]; then
  javac="$JAVA_HOME/bin/javac"
  origin="JAVA_HOME=$JAVA_HOME"
else
  javac=javac
  origin="the PATH"
fi

if ! version=$("$javac" -version 2>&1 </dev/null); then
  cat >&2 <<TEXT
No Java compiler found through $origin: a JDK 17 or newer is needed (a JRE is not enough).
Remedy: install one (for example the package openjdk-17-jdk), or point JAVA_HOME at it.
TEXT
  exit 1
fi

major=$(sed -nE 's/^javac ([0-9]+).*/\1/p' <<<"$version" | head -n 1)
if [[ -z "$major" || "$major" -lt 17 ]]; then
  cat >&2 <<TEXT
The Java compiler found through $origin is too old: $version; 17 or newer is needed.
Remedy: install a JDK 17, or point JAVA_HOME at one.
TEXT
  exit 1
fi

if ! version=$("$maven" -B -v 2>/dev/null </dev/null); then
  cat >&2 <<TEXT
Maven was not found or does not run: $maven. Version 3.8 or newer is needed.
Remedy: install it (for example the package maven), or name it: make MAVEN=/path/to/mvn ...
TEXT
  exit 1
fi

release=$(sed -nE 's/.*Apache Maven ([0-9]+)\.([0-9]+).*/\1 \2/p' <<<"$version" | head -n 1)
read -r big small <<<"${release:-0 0}"
if ((big < 3 || (big == 3 && small < 8))); then
  echo "Maven $big.$small is too old; 3.8 or newer is needed. Remedy: install a newer one, or set MAVEN." >&2
  exit 1
fi
