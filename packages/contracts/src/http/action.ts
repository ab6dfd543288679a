import { z } from 'zod'
import { Timestamp } from '../actions/operation.ts'
import { Action, ObjectState, Verdict, VerdictReason } from '../actions/verdict.ts'
import { RecordKind } from '../providers.ts'
import {
  AccountFilter,
  AmountFilter,
  CurrencyCode,
  Cursor,
  CustomerFilter,
  IdFilter,
  ListQuery,
  TimeFilter,
} from './list.ts'

/** The query of GET /v1/actions. */
export const ActionQuery = ListQuery.extend({
  connection_id: IdFilter.optional(),
  project_id: IdFilter.optional(),
  account: AccountFilter,
  storm_id: IdFilter.optional().describe('Only actions of this storm, those with the newest incidents first'),
  verdict: Verdict.optional(),
  reason: VerdictReason.optional(),
  kind: RecordKind.optional(),
  state: ObjectState.optional(),
  subject: IdFilter.optional().describe('The payment or subscription id at the provider'),
  provider_ref: IdFilter.optional().describe("The provider's id of the refund"),
  actor_id: IdFilter.optional().describe('Who made it, as GET /v1/projects/{id}/actors lists it'),
  customer_id: CustomerFilter,
  currency: CurrencyCode.optional(),
  min_amount: AmountFilter.optional().describe(
    'Minor units, inclusive; give currency too, or amounts of all currencies are compared',
  ),
  max_amount: AmountFilter.optional().describe('Minor units, inclusive'),
  from: TimeFilter.optional().describe('Only actions that were first seen at this time or later'),
  to: TimeFilter.optional().describe('Only actions that were first seen before this time'),
  made_from: TimeFilter.optional().describe(
    'Only actions that the provider made at this time or later, as stats and statements count them',
  ),
  made_to: TimeFilter.optional().describe('Only actions that the provider made before this time'),
  mode: z.enum(['live', 'test']).optional().describe('Whether they moved real money, as the provider reports it'),
})

/** An action as the API answers it. */
export const ShownAction = Action.extend({
  merged_into: z.string().optional().describe('The action that this action was merged into; lists omit merged actions'),
})
export type ShownAction = z.infer<typeof ShownAction>

export const SearchText = z.string().trim().min(2, 'Give at least 2 characters').max(255)

/** The query of GET /v1/search. */
export const SearchQuery = z.object({
  project_id: IdFilter.optional().describe('Required if the key works for every project'),
  q: SearchText.describe(
    'An id of Backstop, or the beginning of an id of a provider, the name of a customer or an actor, an e-mail address, an amount, an idempotency key or a run',
  ),
  limit: z.coerce.number().int().min(1).max(50).default(20).describe('The largest number of results'),
  cursor: Cursor.optional().describe('`next_cursor` of the previous page'),
})

/** One result of a search. */
export const SearchResult = z.object({
  type: z.enum(['action', 'incident', 'delivery', 'connection', 'channel', 'operation', 'run', 'actor', 'customer']),
  id: z.string(),
  title: z.string().describe('One line for people to read'),
  project_id: z.string(),
  connection_id: z.string().nullable(),
  at: Timestamp.nullable().describe('When it was first recorded'),
})
export type SearchResult = z.infer<typeof SearchResult>

/** The answer of GET /v1/search. */
export const SearchResults = z.object({ data: z.array(SearchResult), next_cursor: z.string().nullable() })
