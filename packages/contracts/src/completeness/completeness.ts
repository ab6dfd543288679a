import { z } from 'zod'
import { Timestamp } from '../actions/operation.ts'
import { StatementLine } from '../actions/statement-line.ts'
import { DayOrTime, IdFilter } from '../http/list.ts'
import { ProviderKind } from '../providers.ts'

/** The query of GET /v1/completeness. */
export const CompletenessQuery = z.object({
  project_id: IdFilter.optional().describe('All connections of this project. Give this or connection_id'),
  connection_id: IdFilter.optional().describe('Only this connection'),
  from: DayOrTime.optional().describe('A day (UTC), or a time whose day is included. Default: 30 days before `to`'),
  to: DayOrTime.optional().describe(
    'A day (UTC) that is not included, or a time whose day is included unless it is midnight. Default: the end of today',
  ),
})

/** A time with its end; null if it has not ended. */
const Interval = z.object({ from: Timestamp, to: Timestamp.nullable() })

/** Whether a connection misses a change of a period. */
export const CompletenessAnswer = z.enum([
  /** Everything that the provider lists in the period was read and judged. */
  'complete',
  /** The same, up to `complete_until`: the period has not ended. */
  'complete_so_far',
  /** Something is not read or judged yet: `open` says what. */
  'open',
  /** Nobody can know it: `limits` says why. */
  'not_provable',
])
export type CompletenessAnswer = z.infer<typeof CompletenessAnswer>

/** What is not read or judged yet. */
export const CompletenessOpen = z.enum([
  'not_read_yet',
  'verdicts_pending',
  'notifications_wait',
  'notifications_unusable',
  'being_counted',
])
export type CompletenessOpen = z.infer<typeof CompletenessOpen>

/** What cannot be known. */
export const CompletenessLimit = z.enum([
  /** Without a read key only the changes of which a notification arrived are known. */
  'no_read_key',
  /** The account was not read for more than 30 days, and a provider lists some changes for only 30 days. */
  'not_read_for_thirty_days',
  /** The connection was created during the period. Earlier changes are not judged. */
  'connected_later',
  /** The connection was deleted during the period. */
  'deleted_earlier',
  /** Interruptions before `reading.recorded_from` are not recorded. */
  'reading_not_recorded',
  /** Of a day that an earlier version counted, nobody knows how many changes were found by reading only. */
  'found_by_reading_not_recorded',
  /** The connected accounts of a platform are read only when a notification names them. */
  'connected_accounts',
])
export type CompletenessLimit = z.infer<typeof CompletenessLimit>

/** Whether every change of one connection was read and judged. */
export const ConnectionCompleteness = z.object({
  connection_id: z.string(),
  connection_name: z.string(),
  provider: ProviderKind,
  answer: CompletenessAnswer,
  open: z.array(CompletenessOpen).describe('What is not read or judged yet'),
  limits: z.array(CompletenessLimit).describe('What cannot be known'),
  watched_from: Timestamp.describe('The beginning of the period, or the creation of the connection'),
  watched_to: Timestamp.describe('The end of the period (exclusive), or the deletion of the connection'),
  complete_until: Timestamp.nullable().describe(
    'Every change of the period up to this time was read; null if none was, or if there is no read key',
  ),
  recorded: z.int().describe('Number of refunds, cancellations and other changes that the provider made in the period'),
  judged: z.int().describe('The part of `recorded` that has a verdict'),
  found_by_reading: z
    .int()
    .nullable()
    .describe('The part of `recorded` of which no notification arrived; null if it is not known for all days'),
  waiting_notifications: z
    .int()
    .describe('Notifications of the period that wait until the account can be read; at most 100 are counted'),
  unusable_notifications: z.int().describe('Dead letters of the period; at most 100 are counted'),
  reading: z.object({
    recorded_from: Timestamp.nullable().describe(
      'Nothing is recorded about reading before this time; null if nothing is',
    ),
    completed: z.int().describe('How often the lists of the provider were read to their end in the period'),
    objects: z.int().describe('Number of entries in these lists. Entries of the last 15 minutes are listed again'),
    interruptions: z
      .array(
        Interval.extend({ cause: z.string().nullable().describe('For people to read; null if no reading failed') }),
      )
      .describe(
        'Times of at least 15 minutes in which the lists were not read to their end. What changed in them was read when they ended',
      ),
  }),
  lines: z.array(StatementLine).describe('As in GET /v1/statements'),
})
export type ConnectionCompleteness = z.infer<typeof ConnectionCompleteness>

/** The answer of GET /v1/completeness. */
export const Completeness = z.object({
  project_id: z.string(),
  project_name: z.string(),
  from: Timestamp,
  to: Timestamp.describe('Exclusive'),
  made_at: Timestamp,
  outages: z
    .object({
      recorded_from: Timestamp,
      recorded_until: Timestamp.describe('When the last heartbeat came back'),
      found: z.array(Interval).describe('Times in which no heartbeat came back: no alert was delivered'),
    })
    .nullable()
    .describe('Outages of Backstop in the period; null if no heartbeat was ever recorded'),
  connections: z.array(ConnectionCompleteness).describe('At most 100, the newest ones'),
  connections_complete: z.boolean().describe('False if the project has more connections'),
})
export type Completeness = z.infer<typeof Completeness>

/** One account in a signed statement, in words. */
const SignedAccount = z.object({
  account: z.string(),
  answer: z.string(),
  facts: z.array(z.object({ label: z.string(), value: z.string() })),
  interruptions: z.array(z.string()),
  limits: z.array(z.string()),
  money: z.array(
    z.object({
      category: z.string(),
      kind: z.string(),
      mode: z.string(),
      number: z.string(),
      sum: z.string(),
    }),
  ),
})

/** The answer of GET /v1/completeness/export. */
export const CompletenessExport = z.object({
  statement: z.object({
    title: z.string(),
    project: z.string(),
    period: z.string(),
    made: z.string(),
    outages: z.array(z.string()),
    accounts: z.array(SignedAccount),
  }),
  key_id: z.string().describe('The key of SECRET_KEYS that the key pair is derived from'),
  signature: z.string().describe('Ed25519 over the JSON of `statement` with sorted keys, in base64url'),
})
export type CompletenessExport = z.infer<typeof CompletenessExport>
