# AACO on Debian 12: the first stage builds the package, the second installs it with its dependencies.
#   docker build -t aaco .
#   docker run --rm -v "$PWD/sessions:/sessions" aaco run --model resnet50 --telemetry --profile
# GPU telemetry needs the devices: --device /dev/kfd --device /dev/dri (AMD) or --gpus all (NVIDIA). To run models on a GPU, mount an
# ONNX Runtime build with that execution provider and point to it: -v /path/to/ort:/ort -e AACO_ORT_LIBRARY=/ort/lib/libonnxruntime.so
FROM debian:bookworm AS build
COPY . /source
WORKDIR /source
RUN scripts/bootstrap.sh --product
RUN cmake --preset release -DAACO_BUILD_TESTS=OFF \
    && cmake --build --preset release \
    && cd build/release && cpack -G DEB && mkdir /packages && mv ./*.deb /packages

FROM debian:bookworm-slim
COPY --from=build /packages /packages
RUN apt-get update && apt-get install -y --no-install-recommends /packages/aaco_*.deb \
    && rm -rf /packages /var/lib/apt/lists/*
ENV AACO_SESSIONS=/sessions
VOLUME /sessions
ENTRYPOINT ["aaco"]
CMD ["--help"]
