import { z } from 'zod'
import { SERVICES } from '../services.ts'

const Waiting = z.object({
  count: z.int().describe('Counted up to 10,000'),
  oldest_seconds: z.number().describe('The age of the oldest; 0 if nothing waits'),
})

/** The answer of GET /v1/installation. */
export const InstallationWork = z.object({
  verdicts: Waiting.extend({
    overdue: z
      .int()
      .describe('Actions whose second look was due over 10 seconds ago, without those that wait for a provider'),
    waiting_for_provider: z.int().describe('Actions whose second look was due, and whose provider has not answered'),
  }).describe('Actions without a verdict'),
  deliveries: z
    .object({ pending: Waiting, retrying: Waiting })
    .describe('Deliveries that wait. The age leaves out those that are held on purpose'),
  messages: Waiting.describe('Documents with messages that are not published to Kafka yet'),
  providers: z
    .object({
      key_rejected: z.int().describe('Connections whose provider refuses the read key'),
      unreadable: z.int().describe('Connections whose provider cannot be read, for this or another reason'),
      silent: z.int().describe('Connections whose provider lists events that did not arrive'),
      sweep_age_seconds: z.number().describe('The longest time since a connection was read successfully'),
    })
    .describe('Reading the providers'),
})
export type InstallationWork = z.infer<typeof InstallationWork>

/** A process of a service, as it reported itself. */
export const Process = z.object({
  process_id: z.string().describe('The name of its host, and 8 digits that are others after each start'),
  service: z.enum(SERVICES),
  version: z.string().describe('The release with the commit'),
  started_at: z.iso.datetime(),
  reported_at: z.iso
    .datetime()
    .describe('The last report. A process reports every 16 seconds and when its readiness changes'),
  state: z
    .enum(['ready', 'not_ready', 'silent', 'replaced'])
    .describe(
      '`silent`: it has not reported for a minute. `replaced`: it is silent, and another process of its service has started since. A silent process is removed from the list ten minutes after its last report',
    ),
  unready: z.string().nullable().describe('Why it was not ready at its last report; null if it was'),
  keys: z
    .array(z.object({ key_id: z.string(), fingerprint: z.string() }))
    .describe('The keys of its SECRET_KEYS. Equal keys have equal fingerprints in all processes'),
  clock_ahead_ms: z
    .int()
    .nullable()
    .describe('How far the clock of its host is ahead of that of MongoDB; null before the first comparison'),
})
export type Process = z.infer<typeof Process>

/** The answer of GET /v1/processes. */
export const ProcessList = z.object({
  processes: z.array(Process).describe('In the order of the services, newest first'),
})
