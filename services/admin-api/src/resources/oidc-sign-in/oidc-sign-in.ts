import { deterministicId, ERROR_CODES, type ErrorCode, type PersonDocument } from '@backstop/contracts'
import { AppError } from '@backstop/kit/errors'
import type { SecretBox } from '@backstop/kit/secret-box'
import { z } from 'zod'
import { writeCookie } from '../../access/cookies.ts'
import { defineRoute, type Route, type RouteAnswer, type RouteRequest } from '../../http/route.ts'
import type { IdentityProvider, ProvenPerson } from '../../oidc/identity-provider.ts'
import { rolesOfGroups } from '../../oidc/rules/claims.ts'
import type { AdminParts } from '../../parts.ts'
import { openSession, type SignedIn } from '../sessions/sign-in.ts'
import { renderPage } from '../unsubscribe/pages.ts'
import { decideSignIn, personIdOf } from './rules/decide-sign-in.ts'

const tag = 'Sessions'
const START_PATH = '/v1/sign-in/oidc'
export const CALLBACK_PATH = '/v1/sign-in/oidc/callback'
const RETRY_AFTER_S = 5

const StartQuery = z.object({
  return_to: z
    .string()
    .max(2_048)
    .refine(isLocalPath, 'Give a path of this host that begins with one /')
    .optional()
    .describe('The path to open after the sign-in; if omitted, the path of PUBLIC_URL'),
})

/** Providers add parameters of their own, so unknown ones are accepted. */
const CallbackQuery = z.looseObject({
  code: z.string().min(1).max(4_096).optional(),
  state: z.string().min(1).max(512).optional(),
  iss: z.string().max(2_048).optional(),
  error: z.string().max(512).optional(),
})
const PASSED_ON = ['code', 'state', 'iss', 'error'] as const

const REFUSALS = ['unauthenticated', 'forbidden', 'not_found', 'internal', 'unavailable'] as const satisfies ErrorCode[]
const PAGE = { description: 'A page that says what to do, if the Accept header prefers HTML', mediaType: 'text/html' }
const ANSWERS = { 401: PAGE, 403: PAGE, 404: PAGE, 503: PAGE }

/** GET /v1/sign-in/oidc and its callback: people sign in with OpenID Connect. */
export function oidcSignInRoutes(parts: AdminParts): Route[] {
  return [startRoute(parts), callbackRoute(parts)]
}

function startRoute({ identityProvider, secretBox, publicUrl }: AdminParts): Route {
  return defineRoute({
    method: 'get',
    path: START_PATH,
    operationId: 'startOidcSignIn',
    tag,
    summary: 'Sign a person in with OpenID Connect',
    description: 'For browsers: leads to the provider, and from there back to `return_to` with a session.',
    scope: 'public',
    query: StartQuery,
    answers: { 302: { description: 'To the provider. A cookie keeps the sign-in for 10 minutes' }, ...ANSWERS },
    refusals: REFUSALS,
    handle: request =>
      answerRefusals(request, async () => {
        const { query, client, now } = request
        const { url, secrets } = await requireProvider(identityProvider).start()
        const return_to = query.return_to ?? new URL(publicUrl).pathname
        const attempt = { ...secrets, return_to, expires_at: now.getTime() + ATTEMPT_MS }
        const cookie = writeCookie('sign_in', signAttempt(secretBox, attempt), client.cookieForm, ATTEMPT_MS)
        return { status: 302, headers: { location: url.href, 'set-cookie': cookie } }
      }),
  })
}

function callbackRoute({ identityProvider, secretBox }: AdminParts): Route {
  return defineRoute({
    method: 'get',
    path: CALLBACK_PATH,
    operationId: 'finishOidcSignIn',
    tag,
    summary: 'Finish a sign-in with OpenID Connect',
    description:
      'The provider leads the browser here. The first sign-in creates the person; each one takes name, e-mail and groups from the provider.',
    scope: 'public',
    query: CallbackQuery,
    answers: { 302: { description: 'To `return_to`, with the cookie of the new session' }, ...ANSWERS },
    refusals: REFUSALS,
    handle: request =>
      answerRefusals(request, async () => {
        const { query, client, now } = request
        const provider = requireProvider(identityProvider)
        const attempt = readAttempt(secretBox, client.cookie('sign_in'), now)
        if (attempt === undefined || attempt.state !== query.state) {
          const message = 'This sign-in has expired, was restarted or began in another browser; sign in again'
          throw new AppError('unauthenticated', message, {
            details: { reason: attempt ? 'wrong_state' : 'no_attempt' },
          })
        }
        const answer = PASSED_ON.flatMap(name => (query[name] === undefined ? [] : [[name, query[name]]]))
        const proven = await provider.finish(new URLSearchParams(answer), attempt)
        const cookie = await signIn(request, provider, proven, attempt)
        const used = writeCookie('sign_in', '', client.cookieForm, 0)
        return { status: 302, headers: { location: attempt.return_to, 'set-cookie': [cookie, used] } }
      }),
  })
}

type SignInRequest = Pick<RouteRequest<unknown, unknown, unknown>, 'client' | 'now' | 'change'>

/**
 * Stores the person and opens a session.
 * @throws AppError `unauthenticated` if the attempt was finished before; `forbidden`; a lost role is stored in that case too
 */
async function signIn(
  { client, now, change }: SignInRequest,
  { groupRoles, groupsClaim }: IdentityProvider,
  proven: ProvenPerson,
  { state }: Pick<SignInAttempt, 'state'>,
): Promise<string> {
  const roles = rolesOfGroups(proven.groups ?? [], groupRoles)
  const _id = personIdOf(proven)
  // One attempt is one session, also if two replicas finish it at once and the provider accepts its code twice.
  const sessionId = deterministicId('session', 'oidc', state)
  const { decision, cookie } = await change(
    async ({ people, sessions }) => {
      if ((await sessions.find({ _id: sessionId })) !== undefined) throw usedAttempt()
      const decision = decideSignIn(await people.find({ _id }), proven, roles, now)
      if (decision.person !== undefined) await people.put(decision.person)
      if (decision.kind === 'refused') return { decision, cookie: undefined }
      const who: SignedIn = {
        kind: 'person',
        principal_id: _id,
        key_hash: null,
        signed_in_by: 'oidc',
        parent_ids: [],
        endsAt: null,
      }
      const opened = openSession(who, sessionId, client, now)
      await sessions.insert(opened.document)
      return { decision, cookie: opened.cookie }
    },
    ({ decision: { kind, person } }) => {
      if (person === undefined) return undefined
      return kind === 'accepted'
        ? { action: 'session.create', target: sessionId, projectId: null, actor: actorOf(person, sessionId) }
        : { action: 'person.change', target: _id, projectId: null, actor: actorOf(person, null) }
    },
  )
  if (decision.kind === 'refused') throw refused(decision.reason, groupsClaim, _id)
  return cookie ?? ''
}

function usedAttempt(): AppError {
  const message = 'This sign-in was already finished; sign in again'
  return new AppError('unauthenticated', message, { details: { reason: 'used_attempt' } })
}

function actorOf({ _id: id, name }: PersonDocument, sessionId: string | null) {
  return { kind: 'person', id, name, sessionId } as const
}

function refused(reason: 'disabled' | 'groups_missing' | 'no_role', groupsClaim: string, personId: string): AppError {
  const messages = {
    disabled: 'Your access is disabled; ask an administrator of Backstop to enable it',
    groups_missing: `The OpenID Connect provider did not state your groups; ask its administrator to send Backstop the claim ${groupsClaim} with your groups`,
    no_role:
      'None of your groups has a role in Backstop; ask an administrator to add you to such a group, or to add a group of yours to OIDC_ROLES',
  }
  return new AppError('forbidden', messages[reason], { details: { reason, person_id: personId } })
}

/** @throws AppError `not_found` */
function requireProvider(provider: IdentityProvider | undefined): IdentityProvider {
  if (provider !== undefined) return provider
  throw new AppError('not_found', 'Sign-in with OpenID Connect is not set up; the operator sets OIDC_ISSUER')
}

/** Answers a refusal as a page if the Accept header prefers HTML, because people read it. */
async function answerRefusals(
  { accepts }: Pick<RouteRequest<unknown, unknown, unknown>, 'accepts'>,
  work: () => Promise<RouteAnswer>,
): Promise<RouteAnswer> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof AppError) || accepts(['application/json', 'text/html']) !== 'text/html') throw error
    const { status, code, message } = error
    const again = code === 'not_found' ? {} : { link: { href: START_PATH, text: 'Sign in again' } }
    const page = renderPage({
      title: `You are not signed in: ${ERROR_CODES[code].title}`,
      text: `${message}.`,
      ...again,
    })
    const headers = { ...page.headers, ...(status === 503 ? { 'retry-after': String(RETRY_AFTER_S) } : {}) }
    return { status, html: page.html, headers, refusal: error }
  }
}

/** A sign-in that a browser began. The browser keeps it in a signed cookie until the provider leads it back. */
const SignInAttempt = z.strictObject({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  return_to: z.string().refine(isLocalPath),
  expires_at: z.int(),
})
export type SignInAttempt = z.infer<typeof SignInAttempt>

/** Enough to sign in at the provider, also with a second factor. */
export const ATTEMPT_MS = 10 * 60_000
const PURPOSE = 'oidc-sign-in'

export function signAttempt(secretBox: Pick<SecretBox, 'sign'>, attempt: SignInAttempt): string {
  return secretBox.sign(PURPOSE, JSON.stringify(attempt))
}

/** The attempt of a cookie; undefined if the cookie is missing, was not written by this installation, or has expired. */
export function readAttempt(
  secretBox: Pick<SecretBox, 'verify'>,
  cookie: string | undefined,
  now: Date,
): SignInAttempt | undefined {
  const text = cookie === undefined ? undefined : secretBox.verify(PURPOSE, cookie)
  if (text === undefined) return undefined
  const attempt = SignInAttempt.safeParse(JSON.parse(text)).data
  return attempt !== undefined && attempt.expires_at > now.getTime() ? attempt : undefined
}

/** Long enough for the address of any page of the console. It is kept in a cookie, so it is limited. */
const MAX_LENGTH = 512
const PLAIN = /^\/[\x21-\x7e]*$/

/** True if a browser that is redirected to the text stays on this host. Browsers read `//x` and `/\x` as another host. */
export function isLocalPath(text: string): boolean {
  if (text.length > MAX_LENGTH || !PLAIN.test(text) || text.includes('\\') || text.startsWith('//')) return false
  return URL.parse(text, 'https://this-host.invalid')?.origin === 'https://this-host.invalid'
}
