/** A real OpenID Connect provider on loopback, and the browser of a person who signs in with it. */
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Egress } from '@backstop/kit/egress'
import { listen } from '@backstop/kit/ops'
import { Provider } from 'oidc-provider'

export const CLIENT_ID = 'backstop'
export const CLIENT_SECRET = 'secret-of-the-client-0123456789'

/** Claims of a person at the provider. */
export type Claims = Readonly<Record<string, unknown>>

export interface LocalProvider {
  readonly issuer: string
  /** The people that the provider knows, by their subject. */
  readonly people: Map<string, Claims>
  /** Who signs in next; undefined if that person declines. */
  signsIn: string | undefined
  /** Changes the ID token that the next answers of the provider contain. Undefined: none is changed. */
  changeIdToken: ((idToken: string) => string) | undefined
  /** True if a code that was used is answered again as before. */
  acceptsCodesTwice: boolean
  /** An ID token with other claims, signed with the key of the provider. */
  signAgain(idToken: string, claims: Claims): string
  /** Sends requests of the API to the provider, and changes ID tokens on their way back. */
  between(egress: Pick<Egress, 'checkUrl' | 'request'>): Pick<Egress, 'checkUrl' | 'request'>
  /** Refuses connections until `comeBack`. */
  stop(): Promise<void>
  comeBack(): Promise<void>
}

/** @param redirectUri the only address that the provider leads browsers back to */
export async function startLocalProvider(redirectUri: string): Promise<LocalProvider> {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 })
  const server = createServer()
  await listen(server, 0, '127.0.0.1')
  const { port } = server.address() as AddressInfo
  const issuer = `http://127.0.0.1:${port}`
  const provider = new Provider(
    issuer,
    configurationOf(redirectUri, privateKey, subject => local.people.get(subject)),
  )
  const serve = provider.callback()
  server.on('request', (request, response) => {
    if (!request.url?.startsWith('/interaction/')) return serve(request, response)
    const login = local.signsIn === undefined ? { error: 'access_denied' } : { login: { accountId: local.signsIn } }
    void provider.interactionFinished(request, response, login)
  })
  const answers = new Map<string, ReturnType<Egress['request']>>()
  const local: LocalProvider = {
    issuer,
    people: new Map(),
    signsIn: undefined,
    changeIdToken: undefined,
    acceptsCodesTwice: false,
    signAgain(idToken, claims) {
      const [header, payload = ''] = idToken.split('.')
      const changed = { ...JSON.parse(Buffer.from(payload, 'base64url').toString()), ...claims }
      const signed = `${header}.${Buffer.from(JSON.stringify(changed)).toString('base64url')}`
      return `${signed}.${sign('sha256', Buffer.from(signed), privateKey).toString('base64url')}`
    },
    between: egress => ({
      checkUrl: egress.checkUrl,
      async request(request) {
        const code = new URLSearchParams(String(request.body ?? '')).get('code')
        const asked = (local.acceptsCodesTwice && code !== null && answers.get(code)) || egress.request(request)
        if (code !== null) answers.set(code, asked)
        const answer = await asked
        if (local.changeIdToken === undefined || !answer.body.includes('"id_token"')) return answer
        const tokens = JSON.parse(answer.body.toString())
        const body = Buffer.from(JSON.stringify({ ...tokens, id_token: local.changeIdToken(tokens.id_token) }))
        const { 'content-length': _, ...headers } = answer.headers
        return { ...answer, headers, body }
      },
    }),
    stop: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
    comeBack: () => listen(server, port, '127.0.0.1'),
  }
  return local
}

function configurationOf(
  redirectUri: string,
  privateKey: KeyObject,
  claimsOf: (subject: string) => Claims | undefined,
) {
  return {
    clients: [{ client_id: CLIENT_ID, client_secret: CLIENT_SECRET, redirect_uris: [redirectUri] }],
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'RS256', kid: 'k1' }] },
    cookies: { keys: ['key-of-the-cookies-of-the-provider'] },
    claims: { openid: ['sub'], email: ['email'], profile: ['name', 'groups'] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    ttl: { AccessToken: 60, AuthorizationCode: 60, IdToken: 60, Grant: 60, Interaction: 60, Session: 60 },
    findAccount: (_: unknown, subject: string) => ({
      accountId: subject,
      claims: async () => ({ ...claimsOf(subject), sub: subject }),
    }),
    // The operator of the provider has already consented for everybody.
    // biome-ignore lint/suspicious/noExplicitAny: the context of the package has no types
    async loadExistingGrant({ oidc: { provider, client, session } }: any) {
      const grant = new provider.Grant({ clientId: client.clientId, accountId: session.accountId })
      grant.addOIDCScope('openid profile email')
      await grant.save()
      return grant
    },
  }
}

const MAX_STEPS = 10

/** Follows the provider's pages from the URL that the API gave, as a browser does. Returns the URL to which it leads back. */
export async function visitProvider(from: string, { issuer }: Pick<LocalProvider, 'issuer'>): Promise<URL> {
  const cookies = new Map<string, string>()
  let url = new URL(from)
  for (let step = 0; step < MAX_STEPS && url.origin === issuer; step++) {
    const cookie = [...cookies].map(pair => pair.join('=')).join('; ')
    const answer = await fetch(url, { headers: { cookie }, redirect: 'manual' })
    for (const line of answer.headers.getSetCookie()) {
      const [name = '', value = ''] = (line.split(';')[0] ?? '').split(/=(.*)/)
      cookies.set(name, value)
    }
    const location = answer.headers.get('location')
    if (location === null) throw new Error(`The provider answered ${answer.status}: ${await answer.text()}`)
    url = new URL(location, url)
  }
  return url
}
