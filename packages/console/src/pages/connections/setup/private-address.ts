const PRIVATE_NAME = /^(?:localhost|[^.:]+|.*\.(?:local|localhost|internal))$/
const PRIVATE_V4 = /^(?:0\.0\.0\.0|(?:127|10|192\.168|169\.254|172\.(?:1[6-9]|2\d|3[01]))(?:\.\d+)+)$/
const PRIVATE_V6 = /^\[(?:::1?|f[cd].*|fe80.*)\]$/

/** True for an address that a provider on the internet cannot reach: of this machine, or of a private network. */
export function isPrivateAddress(url: string): boolean {
  const { hostname } = new URL(url)
  return [PRIVATE_NAME, PRIVATE_V4, PRIVATE_V6].some(form => form.test(hostname))
}
