import type { SealedSecret } from '@backstop/contracts'
import { z } from 'zod'
import { channelForm, type SealField, Url } from '../form.ts'

/** The routing key is a secret, because anyone who has it can page. It is encrypted as field 'routing_key'. */
export interface PagerDutyConfig {
  kind: 'pagerduty'
  events_url: string
  routing_key: SealedSecret
  fingerprint: string
}

/**
 * The integration key of a service or of a ruleset: 32 letters and digits
 * (https://developer.pagerduty.com/docs/send-alert-event).
 */
const RoutingKey = z
  .string()
  .regex(/^[A-Za-z0-9]{32}$/, 'Give the Integration Key of an Events API v2 integration: 32 letters and digits')

/** @see https://developer.pagerduty.com/docs/service-regions */
const EVENTS_URL = 'https://events.pagerduty.com/v2/enqueue'

export const pagerDutyForm = channelForm({
  input: z.strictObject({
    kind: z.literal('pagerduty'),
    routing_key: RoutingKey.describe('Integration Key of an Events API v2 integration; never shown again'),
    events_url: Url.default(EVENTS_URL).describe(
      'Where events are sent: for accounts in the EU https://events.eu.pagerduty.com/v2/enqueue. It cannot change',
    ),
  }),
  shown: z.object({ kind: z.literal('pagerduty'), events_url: z.string(), routing_key_fingerprint: z.string() }),
  // The URL is not a patch field: the key would be sent to a host that its owner did not choose.
  patch: { routing_key: RoutingKey.optional().describe('pagerduty; never shown again') },
  urls: ['events_url'],
  target: ['routing_key'],
  hosts: {
    names: ['events.pagerduty.com', 'events.eu.pagerduty.com'],
    remedy:
      'Give https://events.pagerduty.com/v2/enqueue, or https://events.eu.pagerduty.com/v2/enqueue for an account in the EU',
  },
  seal: ({ routing_key, events_url }, seal): PagerDutyConfig => ({
    kind: 'pagerduty',
    events_url,
    ...sealKey(routing_key, seal),
  }),
  change: (stored, { routing_key }, seal) => ({
    ...stored,
    ...(routing_key === undefined ? {} : sealKey(routing_key, seal)),
  }),
  reseal(stored, reseal) {
    if (stored.routing_key === '') return stored
    const { sealed, fingerprint } = reseal(stored.routing_key, 'routing_key')
    return { ...stored, routing_key: sealed, fingerprint }
  },
  show: ({ events_url, fingerprint }) => ({ kind: 'pagerduty', events_url, routing_key_fingerprint: fingerprint }),
  erase: stored => ({ ...stored, events_url: '', routing_key: '' }),
})

function sealKey(key: string, seal: SealField): Pick<PagerDutyConfig, 'routing_key' | 'fingerprint'> {
  const { sealed, fingerprint } = seal(key, 'routing_key')
  return { routing_key: sealed, fingerprint }
}
