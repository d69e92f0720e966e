# keval in a container: `docker build -t keval .`, then as in README.md.
FROM python:3.11-slim

# Workspaces that are a checkout need git.
RUN apt-get update && apt-get install -y --no-install-recommends git && rm -rf /var/lib/apt/lists/*

COPY . /src
RUN pip install --no-cache-dir --constraint /src/constraints.txt '/src[plots,vertex]' && rm -rf /src

# Claude Code, which comes with the SDK, refuses some of its modes to root.
RUN useradd --create-home keval
USER keval
WORKDIR /work
ENTRYPOINT ["keval"]
