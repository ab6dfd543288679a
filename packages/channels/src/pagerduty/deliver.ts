import { toHttpAnswer } from '../answer/http-answer.ts'
import { type ChannelModule, settingOf } from '../channel.ts'
import type { PagerDutyConfig } from './form.ts'
import { pagerDutyEvent } from './message.ts'
import { openRoutingKey } from './target.ts'

/** Sends events to PagerDuty's Events API v2, which pages the person on call. */
export const pagerDutyChannel: ChannelModule<PagerDutyConfig> = {
  kind: 'pagerduty',
  audience: 'people',
  // PagerDuty adjusts its limit to the traffic and answers 429, so there is no fixed pace.
  concurrency: 2,
  deliver(channel, { alert }, ports, project) {
    const { egress, secretBox, attemptMs } = ports
    const key = openRoutingKey(channel, secretBox)
    const exchange = egress.request({
      url: channel.config.events_url,
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ routing_key: key.reveal(), ...pagerDutyEvent(alert, settingOf(ports, project)) }),
      lane: channel._id,
      timeoutMs: attemptMs,
      partialBody: 'accept',
    })
    return toHttpAnswer(exchange, [key])
  },
}
