import { z } from 'zod'

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
