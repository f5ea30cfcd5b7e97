# The default study in a container: docker build -t recsys-repro . && docker run --rm -v "$PWD/out:/out" recsys-repro
FROM python:3.11-slim
# hadolint ignore=DL3008
RUN apt-get update -qq \
    && apt-get install -qq -y --no-install-recommends gcc g++ libc6-dev make \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /repro
COPY . .
RUN make install
VOLUME /out
CMD ["sh", "-c", "make study && cp -r reports/cross-framework-ml100k/run/. /out/"]
