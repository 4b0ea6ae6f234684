# An image from built packages (build/package/*.deb), on a base of your choice:
#   docker build -f packaging/containers/package.Dockerfile -t aaco build/package
#   docker build -f packaging/containers/package.Dockerfile --build-arg BASE=rocm/dev-ubuntu-22.04 ...   for AMD GPUs; proved on the format only
#   docker build -f packaging/containers/package.Dockerfile --build-arg BASE=nvidia/cuda:12.4.1-runtime-ubuntu22.04 ...   for NVIDIA GPUs; likewise
# The packages are of Debian 12: a base must have its libraries. GPUs need their devices (see the Dockerfile at the top) and an ONNX Runtime
# with their provider (AACO_ORT_LIBRARY).
ARG BASE=debian:bookworm-slim
FROM ${BASE}
COPY aaco_*.deb libaaco0_*.deb python3-aaco_*.deb /packages/
RUN apt-get update \
    && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends /packages/*.deb python3-pandas \
    && rm -rf /packages /var/lib/apt/lists/*
RUN useradd --create-home aaco && mkdir /sessions && chown aaco /sessions
USER aaco
ENV AACO_SESSIONS=/sessions
VOLUME /sessions
ENTRYPOINT ["aaco"]
CMD ["--help"]
