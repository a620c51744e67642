# discord-mcp over stdio, as a client starts it:
#   docker build -t discord-mcp .
#   docker run -i --rm discord-mcp serve --sandbox
#   docker run -i --rm -e DISCORD_TOKEN discord-mcp
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o /discord-mcp ./cmd/discord-mcp

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /discord-mcp /discord-mcp
USER 65532:65532
ENTRYPOINT ["/discord-mcp"]
