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
# Kernels are compiled once, here, into a folder that the server may write to where the machine wants others.
ENV PATH=/venv/bin:$PATH NUMBA_CACHE_DIR=/home/namesake/kernels XDG_CACHE_HOME=/home/namesake/cache NAMESAKE_KB=/kb
USER namesake
RUN namesake demo > /dev/null
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/health', timeout=4)"]
ENTRYPOINT ["namesake"]
CMD ["serve", "--host", "0.0.0.0", "--port", "8000"]
