# The service with the embedded backend: no key, no GPU, and no network once the image is built.
#   docker build -t agenticiqa .
#   docker run --network none -v "$PWD:/photos:ro" agenticiqa assess /photos/photo.jpg
FROM python:3.11-slim
WORKDIR /app
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY src ./src
RUN pip install --no-cache-dir -c constraints.txt ".[server,mcp]" && useradd --create-home assessor
USER assessor
ENV OMP_NUM_THREADS=1 AGENTICIQA_PIPELINE__OFFLINE=true
WORKDIR /home/assessor
ENTRYPOINT ["agenticiqa"]
CMD ["--help"]
