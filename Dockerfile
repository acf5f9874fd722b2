# The manager: one static program and CA certificates. `make image` builds the same without Docker.
FROM --platform=$BUILDPLATFORM golang:1.26 AS build
ARG TARGETOS
ARG TARGETARCH
WORKDIR /source
# Dependencies first: they change less often than the code.
COPY go.mod go.sum ./
RUN go mod download
COPY api api
COPY cmd cmd
COPY internal internal
COPY pkg pkg
RUN CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH go build -trimpath -ldflags='-s -w' -o /manager ./cmd
RUN mkdir -m 1777 /empty

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build --chmod=1777 /empty /tmp
COPY --from=build /manager /manager
ENV PATH=/ HOME=/tmp
USER 65532:65532
ENTRYPOINT ["/manager"]
