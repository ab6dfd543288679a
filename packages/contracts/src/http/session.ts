import { z } from 'zod'
import { Timestamp } from '../actions/operation.ts'
import { Scope } from './api-key.ts'

/** The body of POST /v1/sessions. */
export const NewSession = z.union([
  z.strictObject({ key: z.string().min(1).max(512).describe('An API key') }),
  z.strictObject({ token: z.string().min(1).max(512).describe('The token of a sign-in link') }),
])

/** A session as the API answers it. The cookie holds its secret. */
export const Session = z.object({
  session_id: z.string(),
  kind: z.enum(['key', 'person']),
  principal_id: z.string().describe('The key or person that is signed in'),
  signed_in_by: z.enum(['key', 'link', 'oidc']),
  state: z.enum(['active', 'expired', 'ended']),
  created_at: Timestamp,
  last_seen_at: Timestamp.describe('Accurate to one minute'),
  expires_at: Timestamp.describe('The latest end; a session that is not used for 8 hours ends earlier'),
  ended_at: Timestamp.nullable(),
  address: z.string().nullable(),
  user_agent: z.string().nullable(),
})
export type Session = z.infer<typeof Session>

/** The body of POST /v1/sign-in-links. */
export const NewSignInLink = z.strictObject({
  person_id: z.string().optional().describe('Who signs in; if omitted, the caller'),
})

/** The answer to POST /v1/sign-in-links. */
export const SignInLink = z.object({
  url: z.string().optional().describe('Opens the console signed in, once: shown once'),
  token: z.string().optional().describe('For POST /v1/sessions, once: shown once'),
  expires_at: Timestamp,
})

/** The answer to GET /v1/me. */
export const Me = z.object({
  kind: z.enum(['key', 'person']),
  id: z.string(),
  name: z.string(),
  session_id: z.string().nullable().describe('null if the request was made with an API key'),
  grants: z.array(
    z.object({ project_id: z.string().nullable().describe('null: all projects'), scopes: z.array(Scope) }),
  ),
})
export type Me = z.infer<typeof Me>
