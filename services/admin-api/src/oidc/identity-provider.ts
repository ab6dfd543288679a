/**
 * Signs people in with OpenID Connect: authorization code with PKCE, state and nonce. The library checks the state, the exact issuer,
 * the audience, the nonce, the expiry and the signature of the ID token; its requests are sent by the guarded client.
 */

import type { Clock } from '@backstop/kit/clock'
import type { Secret } from '@backstop/kit/config'
import { type Egress, egressReason } from '@backstop/kit/egress'
import { AppError } from '@backstop/kit/errors'
import type { Logger } from '@backstop/kit/logger'
import * as oidc from 'openid-client'
import { findUnusableClaim, type GroupRole, isIncomplete, type PersonClaims, readClaims } from './rules/claims.ts'

/** How people sign in with OpenID Connect, as the operator configures it. */
export interface OidcSettings {
  /** Exactly as the provider states it, including a slash at the end. */
  readonly issuer: string
  readonly clientId: string
  /** Undefined for a public client, which has PKCE only. */
  readonly clientSecret: Secret | undefined
  /** Separated by spaces, with `openid`. */
  readonly scopes: string
  /** The claim with the groups of a person. */
  readonly groupsClaim: string
  readonly groupRoles: readonly GroupRole[]
}

/** The values that bind an answer of the provider to the browser that began the sign-in. */
interface SignInSecrets {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
}

/** A person whom the provider authenticated. */
export interface ProvenPerson extends PersonClaims {
  readonly issuer: string
  /** The provider's id of the person, the only claim that never changes. */
  readonly subject: string
}

/** The OpenID Connect provider of the installation. */
export interface IdentityProvider {
  readonly groupsClaim: string
  readonly groupRoles: readonly GroupRole[]
  /**
   * Returns the URL at the provider where the person signs in.
   * @throws AppError `unavailable`
   */
  start(): Promise<{ readonly url: URL; readonly secrets: SignInSecrets }>
  /**
   * Checks the answer of the provider and exchanges its code.
   * @param answer the parameters with which the provider led the browser back
   * @throws AppError `unauthenticated` if the answer does not prove who the person is; `unavailable`
   */
  finish(answer: URLSearchParams, secrets: SignInSecrets): Promise<ProvenPerson>
}

/** Services and settings of the provider. */
export interface IdentityProviderOptions {
  readonly settings: OidcSettings
  /** Where the provider leads the browser back to. */
  readonly redirectUri: string
  readonly egress: Pick<Egress, 'request'>
  readonly clock: Clock
  readonly logger: Logger
}

const TIMEOUT_MS = 5_000
/** The endpoints of a provider rarely change. Its keys are read separately, and again when a token names an unknown key. */
const KEEP_ENDPOINTS_MS = 3_600_000
/** A process is not ready if its clock differs by more than 30 s. */
const CLOCK_TOLERANCE_S = 60

/** Creates the provider. Its endpoints are read at the first sign-in, so the API starts while the provider is down. */
export function createIdentityProvider(options: IdentityProviderOptions): IdentityProvider {
  const { settings, redirectUri, clock, logger } = options
  let known: { readonly configuration: Promise<oidc.Configuration>; readonly untilMs: number } | undefined

  function findEndpoints(): Promise<oidc.Configuration> {
    if (known !== undefined && clock.now() < known.untilMs) return known.configuration
    const reading = { configuration: discover(options), untilMs: clock.now() + KEEP_ENDPOINTS_MS }
    known = reading
    // A failure is not kept: the next sign-in reads again.
    reading.configuration.catch(() => {
      if (known === reading) known = undefined
    })
    return reading.configuration
  }

  async function explained<T>(step: SignInStep, work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      const explanation = explainFailure(error, step)
      const { code, message, details } = explanation
      const facts = { issuer: settings.issuer, step, code, detail: message, ...details }
      // Any stranger can send an answer that is refused, so only a failure of the provider is a warning.
      if (code === 'unavailable') logger.warn(facts, 'oidc.failed')
      else logger.info(facts, 'oidc.failed')
      throw explanation
    }
  }

  return {
    groupsClaim: settings.groupsClaim,
    groupRoles: settings.groupRoles,
    async start() {
      const configuration = await explained('discover', findEndpoints)
      const secrets = {
        state: oidc.randomState(),
        nonce: oidc.randomNonce(),
        verifier: oidc.randomPKCECodeVerifier(),
      }
      const url = oidc.buildAuthorizationUrl(configuration, {
        redirect_uri: redirectUri,
        scope: settings.scopes,
        state: secrets.state,
        nonce: secrets.nonce,
        code_challenge: await oidc.calculatePKCECodeChallenge(secrets.verifier),
        code_challenge_method: 'S256',
      })
      return { url, secrets }
    },
    async finish(answer, secrets) {
      const configuration = await explained('discover', findEndpoints)
      return explained('exchange', () => provePerson(configuration, settings, `${redirectUri}?${answer}`, secrets))
    },
  }
}

async function provePerson(
  configuration: oidc.Configuration,
  { issuer, groupsClaim }: OidcSettings,
  url: string,
  { state, nonce, verifier }: SignInSecrets,
): Promise<ProvenPerson> {
  const tokens = await oidc.authorizationCodeGrant(configuration, new URL(url), {
    expectedState: state,
    expectedNonce: nonce,
    pkceCodeVerifier: verifier,
    idTokenExpected: true,
  })
  const idToken = tokens.claims()
  if (idToken === undefined) throw rejected('id_token_missing')
  // Before the provider is asked for more: it would be asked about this subject.
  refuseUnusable(idToken, groupsClaim)
  const mayAsk = isIncomplete(idToken, groupsClaim) && configuration.serverMetadata().userinfo_endpoint !== undefined
  // Many providers put groups and names only into the answer of this endpoint. Its subject must be the one of the ID token.
  const more = mayAsk ? await oidc.fetchUserInfo(configuration, tokens.access_token, idToken.sub) : {}
  const claims = { ...more, ...idToken }
  refuseUnusable(claims, groupsClaim)
  return { issuer, subject: idToken.sub, ...readClaims(claims, groupsClaim) }
}

/** @throws AppError `unauthenticated` */
function refuseUnusable(claims: Readonly<Record<string, unknown>>, groupsClaim: string): void {
  const claim = findUnusableClaim(claims, groupsClaim)
  if (claim === 'sub') throw rejected('sub is empty, too long or no text')
  if (claim === 'groups') throw rejected(`${groupsClaim} is no list; ask the administrator of the provider to send one`)
}

async function discover({ settings, egress }: IdentityProviderOptions): Promise<oidc.Configuration> {
  const { issuer, clientId, clientSecret } = settings
  const server = new URL(issuer)
  const configuration = await oidc.discovery(
    server,
    clientId,
    { [oidc.clockTolerance]: CLOCK_TOLERANCE_S },
    clientSecret === undefined ? oidc.None() : authenticateClient(clientSecret),
    {
      [oidc.customFetch]: requestThrough(egress),
      timeout: TIMEOUT_MS / 1_000,
      // Tokens come by TLS, but a proxy may end it, so their signatures are verified too. http is possible on loopback only (config.ts).
      execute: [oidc.enableNonRepudiationChecks, ...(server.protocol === 'http:' ? [oidc.allowInsecureRequests] : [])],
    },
  )
  const stated = configuration.serverMetadata().issuer
  // The library ignores some differences, and accepts every tenant if the issuer is one for all tenants.
  if (stated !== issuer)
    throw providerFault('wrong_issuer', `calls itself ${stated.slice(0, MAX_SHOWN)}; set OIDC_ISSUER to exactly this`)
  return configuration
}

/**
 * Sends the secret in the Authorization header, unless the provider accepts it in the body only. It is the secret that its file has at
 * that time, so that a rotation needs no restart.
 */
function authenticateClient(secret: Secret): oidc.ClientAuth {
  return (server, ...request) => {
    const latest = secret.revealLatest()
    const accepted = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
    const isBodyOnly = accepted.includes('client_secret_post') && !accepted.includes('client_secret_basic')
    const authenticate = isBodyOnly ? oidc.ClientSecretPost(latest) : oidc.ClientSecretBasic(latest)
    return authenticate(server, ...request)
  }
}

/** The stated issuer is shown to the operator up to this length. */
const MAX_SHOWN = 200

const BODILESS = new Set([204, 205, 304])

function requestThrough(egress: Pick<Egress, 'request'>): oidc.CustomFetch {
  return async (url, { method, headers, body, signal }) => {
    const request = {
      url,
      method: method === 'POST' ? 'POST' : 'GET',
      headers,
      ...(body == null ? {} : { body: String(body) }),
      ...(signal === undefined ? {} : { signal }),
      timeoutMs: TIMEOUT_MS,
      lane: 'oidc',
    } as const
    const answer = await egress.request(request).catch(error => {
      const reason = egressReason(error)
      if (reason === undefined) throw error
      throw providerFault(reason, 'does not answer, or may not be reached from here')
    })
    const content = BODILESS.has(answer.status) ? null : new Uint8Array(answer.body)
    return new Response(content, { status: answer.status, headers: answer.headers })
  }
}

type SignInStep = 'discover' | 'exchange'

/** Failures of the provider, by the codes of the library. All others of an exchange are faults of the answer that the browser brought. */
const PROVIDER_FAULTS = new Set([
  'OAUTH_TIMEOUT',
  'OAUTH_ABORT',
  'OAUTH_RESPONSE_IS_NOT_CONFORM',
  'OAUTH_RESPONSE_IS_NOT_JSON',
  'OAUTH_PARSE_ERROR',
])

/** The errors of OAuth that say that the provider or its settings are at fault. */
const PROVIDER_ERRORS = new Set(['server_error', 'temporarily_unavailable', 'unauthorized_client', 'invalid_scope'])

/**
 * Explains a failure without what it was caused by: errors of the library contain tokens and claims, which must not be logged.
 */
function explainFailure(error: unknown, step: SignInStep): AppError {
  const known = findAppError(error)
  if (known !== undefined) return known
  if (error instanceof oidc.WWWAuthenticateChallengeError || isOAuthError(error, 'invalid_client')) {
    return providerFault('invalid_client', 'refuses this installation; check OIDC_CLIENT_ID and OIDC_CLIENT_SECRET')
  }
  if (error instanceof oidc.ResponseBodyError || error instanceof oidc.AuthorizationResponseError) {
    // The text is the provider's, or that of a stranger who knows the state, so only a plain word is repeated.
    const word = /^[a-z_]{1,64}$/.test(error.error) ? error.error : 'unknown_error'
    return PROVIDER_ERRORS.has(word) ? providerFault(word, `cannot sign anybody in now (${word})`) : rejected(word)
  }
  const code = codeOf(error)
  if (step === 'discover' || PROVIDER_FAULTS.has(code)) {
    return providerFault(code, 'gave an answer that is not that of an OpenID Connect provider')
  }
  return rejected(code)
}

function findAppError(error: unknown): AppError | undefined {
  for (let at = error; at instanceof Error; at = at.cause) if (at instanceof AppError) return at
  return undefined
}

function isOAuthError(error: unknown, name: string): boolean {
  return error instanceof oidc.ResponseBodyError && error.error === name
}

/** The code of an error of the library, and the claim that is wrong, if it is one. */
function codeOf(error: unknown): string {
  const { code, cause } = error as { readonly code?: unknown; readonly cause?: unknown }
  const claim = findClaim(cause)
  return `${typeof code === 'string' ? code : 'unknown'}${claim === undefined ? '' : ` ${claim}`}`
}

function findClaim(cause: unknown): string | undefined {
  if (typeof cause !== 'object' || cause === null) return undefined
  const { claim, cause: next } = cause as { readonly claim?: unknown; readonly cause?: unknown }
  return typeof claim === 'string' ? claim : findClaim(next)
}

function providerFault(reason: string, what: string): AppError {
  const message = `The OpenID Connect provider ${what}. Sign in later, or with a sign-in link of an administrator`
  return new AppError('unavailable', message, { retryable: true, details: { reason } })
}

function rejected(reason: string): AppError {
  const message = `The answer of the OpenID Connect provider does not sign you in (${reason}); sign in again`
  return new AppError('unauthenticated', message, { details: { reason } })
}
