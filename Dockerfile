# discord-mcp over stdio, as a client starts it:
#   docker build -t discord-mcp .
#   docker run -i --rm discord-mcp serve --sandbox
#   docker run -i --rm -e DISCORD_TOKEN discord-mcp
# and over HTTP, for clients that reach it:
#   docker run --rm -p 127.0.0.1:3000:3000 -e DISCORD_TOKEN -e DISCORD_MCP_ACCESS_TOKEN --entrypoint /discord-mcp-http discord-mcp --addr 0.0.0.0:3000
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o / ./cmd/discord-mcp ./cmd/discord-mcp-http

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /discord-mcp /discord-mcp-http /
USER 65532:65532
ENTRYPOINT ["/discord-mcp"]
