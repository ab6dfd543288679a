import { z } from 'zod'
import { ActionMode } from '../actions/action-details.ts'
import { Timestamp } from '../actions/operation.ts'
import { ActorKind } from '../actions/provider-actor.ts'
import { ProviderKind, RecordKind } from '../providers.ts'
import { ListQuery } from './list.ts'

/** What people say about an actor. */
export const ActorRole = z.enum([
  /** Our own software. */
  'ours',
  /** A person of the team. */
  'person',
  /** An agent that acts for people. */
  'agent',
  /** Kept only as a trap: each of its actions opens CANARY_USED. */
  'canary',
  'unknown',
])
export type ActorRole = z.infer<typeof ActorRole>

const ActorName = z.string().trim().min(1).max(100)

/** The body of PATCH /v1/projects/{id}/actors/{actor_id}. */
export const ActorPatch = z
  .strictObject({
    name: ActorName.nullable().optional().describe('As people know it; null for none'),
    role: ActorRole.optional().describe(
      '`canary`: each action of it from now on opens an incident CANARY_USED at once',
    ),
  })
  .refine(patch => patch.name !== undefined || patch.role !== undefined, 'Give name or role')

/** The body of POST /v1/projects/{id}/actors. */
export const NewActor = z.strictObject({
  prefix: z
    .string()
    .min(3)
    .max(100)
    .regex(/^[!-~]+$/, 'Use printable ASCII without spaces')
    .describe('The beginning of the idempotency keys that your software sends to the card processor, e.g. "billing-"'),
  name: ActorName,
  role: ActorRole.default('ours'),
})

/** The query of GET /v1/projects/{id}/actors. */
export const ActorQuery = ListQuery.extend({
  kind: ActorKind.optional(),
  role: ActorRole.optional(),
})

/** An API key, dashboard user, hosted page or provider that made actions, with what people say about it. */
export const ShownActor = z.object({
  actor_id: z.string(),
  project_id: z.string(),
  kind: ActorKind.nullable().describe('Null if the actions that named it are no longer known'),
  label: z
    .string()
    .nullable()
    .describe('The name or id of the key, the user, or the prefix. Null if there is none, or if it was erased'),
  provider: ProviderKind.nullable(),
  account: z.string().nullable().describe('The connected account at the provider; null if there is none'),
  name: z.string().nullable(),
  role: ActorRole,
  first_at: Timestamp.nullable().describe('When the provider made its first action; null before one is counted'),
  last_at: Timestamp.nullable().describe('When the provider made its last action'),
  actions: z.int().describe('All its actions. Counts are about two seconds late'),
  totals: z
    .array(
      z.object({
        kind: RecordKind,
        currency: z.string().nullable(),
        mode: ActionMode.describe('Whether they moved real money; null if the provider does not report it'),
        count: z.int(),
        amount: z.int().describe('Minor units of the actions that moved money'),
      }),
    )
    .describe('By kind, currency and mode'),
  version: z.int().describe('0 before somebody named it'),
})
export type ShownActor = z.infer<typeof ShownActor>
