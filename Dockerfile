# One image for worker, bridge and command: the checkout on Node 24, without development packages.
FROM node:24-bookworm-slim
WORKDIR /opt/drover
COPY package.json package-lock.json ./
# Optional packages stay: the workflow bundler needs its native compiler. Node itself comes with the image.
RUN npm install --no-save --omit=dev --no-audit --no-fund && rm -rf node_modules/node-linux-* node_modules/.bin/node
COPY bin bin
COPY contracts contracts
COPY workflows workflows
COPY activities activities
COPY runtime runtime
COPY workers workers
COPY k8s-bridge k8s-bridge
COPY starters starters
COPY deploy deploy
# The user `node` of the image, by number: Kubernetes cannot tell otherwise that it is not root.
USER 1000:1000
# As bin/node.json has them, without a launcher in between.
ENV MALLOC_ARENA_MAX=2
ENTRYPOINT ["node", "--max-semi-space-size=2", "--heap-growing-percent=30", "/opt/drover/starters/main.ts"]
