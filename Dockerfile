# One target per service, and one for the deploy job:
#   docker build --target ingress --tag backstop-ingress:0.4.0-dev .        (or reconciler, notifier, admin-api, provision)
#
# Nothing is compiled but the console, which runs in browsers: Node strips the types of the files in packages/ and services/. It does not do so in node_modules, so the
# packages stay in place, and node_modules has npm's workspace links to them.

# Pinned by digest, so that the same commit builds from the same bytes. `npm run release -- pin-images` writes today's digests; the tags name
# the versions. A machine without access to the registry needs --build-arg NODE_IMAGE=… --build-arg RUNTIME_IMAGE=…
ARG NODE_IMAGE=node:24-bookworm-slim@sha256:235600a8101ab264e117b1768e925532262668dc9b581ef1dd7d96ced463b8e7
# The image of the services. It needs the C and C++ runtime libraries of NODE_IMAGE, and nothing else.
ARG RUNTIME_IMAGE=debian:bookworm-slim@sha256:abd67ffcfa541b485a3dff59865ab629aa048a6c613e639d36e7456b0b229241

FROM ${NODE_IMAGE} AS node

# npm runs on the platform of the builder, because it installs no machine code: an image for another platform is built without emulating it.
FROM --platform=$BUILDPLATFORM ${NODE_IMAGE} AS builder

FROM builder AS sources
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY packages packages
COPY services services
# The simulator signs events like the billing providers, so it must not be in a production image. The console is built below.
RUN rm -rf packages/simulator packages/console

FROM sources AS manifests
# Only the files that npm reads, so that a change of code does not reinstall the dependencies.
RUN find packages services -type f ! -name package.json -delete

FROM builder AS dependencies
WORKDIR /app
COPY --from=manifests /app ./
RUN --mount=type=cache,target=/root/.npm \
    npm ci --omit=dev --ignore-scripts --workspace packages --workspace services

FROM builder AS console
WORKDIR /app
COPY package.json package-lock.json .npmrc tsconfig.json ./
COPY packages/client/package.json packages/client/
COPY packages/contracts/package.json packages/contracts/
COPY packages/console/package.json packages/console/
RUN --mount=type=cache,target=/root/.npm npm ci --ignore-scripts --workspace packages/console
COPY packages/client packages/client
COPY packages/contracts packages/contracts
COPY packages/console packages/console
RUN ["node", "packages/console/scripts/build.ts"]

FROM ${RUNTIME_IMAGE} AS runtime
ARG VERSION=0.4.0-dev
ARG REVISION=unknown
LABEL org.opencontainers.image.vendor="Backstop" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
RUN groupadd --gid 65532 backstop && useradd --uid 65532 --gid 65532 --no-create-home --home-dir /nonexistent backstop
# Only the program: a running service needs neither npm nor a package cache.
COPY --from=node /usr/local/bin/node /usr/local/bin/node
# Without this the services listen on 127.0.0.1. In a container, the person who starts it decides what is reachable.
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080 OPS_PORT=9090 BACKSTOP_REVISION=${REVISION}
WORKDIR /app
COPY --from=dependencies /app/node_modules node_modules
COPY --from=sources /app/package.json ./
# With the versions that npm keeps in a workspace's own node_modules, because another workspace needs another version.
COPY --from=dependencies /app/packages packages
COPY --from=sources /app/packages packages
# By number, so that Kubernetes can check that it is not root.
USER 65532:65532

# Liveness only. Readiness is /readyz, which Compose and Kubernetes check themselves.
FROM runtime AS service
EXPOSE 9090
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 \
    CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.OPS_PORT}/healthz`).then(answer => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]

FROM service AS ingress
LABEL org.opencontainers.image.title="backstop-ingress" \
      org.opencontainers.image.description="Authenticates webhooks of billing providers and stores them in Kafka"
COPY --from=dependencies /app/services/ingress services/ingress
COPY --from=sources /app/services/ingress services/ingress
EXPOSE 8080
CMD ["node", "services/ingress/src/main.ts"]

FROM service AS reconciler
LABEL org.opencontainers.image.title="backstop-reconciler" \
      org.opencontainers.image.description="Explains refunds and cancellations, or opens an incident"
COPY --from=dependencies /app/services/reconciler services/reconciler
COPY --from=sources /app/services/reconciler services/reconciler
CMD ["node", "services/reconciler/src/main.ts"]

FROM service AS notifier
LABEL org.opencontainers.image.title="backstop-notifier" \
      org.opencontainers.image.description="Delivers alerts by chat, mail and webhook"
COPY --from=dependencies /app/services/notifier services/notifier
COPY --from=sources /app/services/notifier services/notifier
CMD ["node", "services/notifier/src/main.ts"]

FROM service AS admin-api
LABEL org.opencontainers.image.title="backstop-admin-api" \
      org.opencontainers.image.description="The management API and the console"
COPY --from=dependencies /app/services/admin-api services/admin-api
COPY --from=sources /app/services/admin-api services/admin-api
COPY --from=console /app/packages/console/dist packages/console/dist
EXPOSE 8080
CMD ["node", "services/admin-api/src/main.ts"]

FROM runtime AS provision
LABEL org.opencontainers.image.title="backstop-provision" \
      org.opencontainers.image.description="Creates topics, schemas, collections and indexes; safe to run again"
CMD ["node", "packages/provision/src/main.ts"]

# Not part of the product: the simulated shop for the demo of docker-compose.yml.
FROM node AS demo
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY packages packages
COPY services services
COPY stack stack
RUN --mount=type=cache,target=/root/.npm npm ci --omit=dev --ignore-scripts --workspace packages --workspace stack
COPY scripts scripts
USER 65532:65532
CMD ["node", "scripts/demo.ts"]
