# syntax=docker/dockerfile:1
# The service with the embedded backend: no key, no GPU, and no network once the image is built.
#   docker build -t agenticiqa .
#   docker run --network none -v "$PWD:/photos:ro" agenticiqa assess /photos/photo.jpg
#   docker run -p 8080:8080 -v "$PWD/token:/token:ro" agenticiqa serve --host 0.0.0.0 --token-file /token
FROM python:3.11-slim AS build
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY src ./src
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheel .

FROM python:3.11-slim
# Mounted, not copied: neither the wheel nor the constraints stay in the image beside what was installed from them.
RUN --mount=type=bind,from=build,source=/wheel,target=/wheel \
    --mount=type=bind,source=constraints.txt,target=/constraints.txt \
    pip install --no-cache-dir -c /constraints.txt "$(echo /wheel/agenticiqa-*.whl)[server,mcp]" \
    && useradd --create-home assessor
USER assessor
ENV OMP_NUM_THREADS=1 AGENTICIQA_PIPELINE__OFFLINE=true
WORKDIR /home/assessor
ENTRYPOINT ["agenticiqa"]
CMD ["--help"]
