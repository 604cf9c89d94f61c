# The server as an image. The KB is mounted, not built in:
#   docker build -t namesake .
#   docker run --rm -p 8000:8000 -v /path/to/kb:/kb:ro namesake
FROM python:3.12-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends gcc g++ && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY pyproject.toml README.md LICENSE ./
COPY src ./src
RUN python -m venv /venv && /venv/bin/pip install --no-cache-dir '.[web]'

FROM python:3.12-slim
RUN useradd --uid 10001 --create-home namesake
COPY --from=build /venv /venv
ENV PATH=/venv/bin:$PATH NAMESAKE_KB=/kb
# Kernels are compiled here by root, beside the package, where every user can read them. On a machine with another kind of
# processor, the server compiles its own at the first start, into its user's cache folder.
RUN namesake compile
USER namesake
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/health', timeout=4)"]
ENTRYPOINT ["namesake"]
CMD ["serve", "--host", "0.0.0.0", "--port", "8000"]
