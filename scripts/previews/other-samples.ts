import { type Preview, previewMessage, SAMPLE_ALERTS, sampleChannelIncident } from '@backstop/channels'
import { ChannelKind } from '@backstop/contracts'
import { awkwardAlert } from './awkward-alert.ts'

/** Kinds with samples of their own: mails and Slack messages have more forms, and people do not read webhooks. */
const LEFT_OUT: ReadonlySet<ChannelKind> = new Set(['email', 'slack', 'webhook'])

/** The message of each alert for every other kind of channel. */
export function otherSamples(): { name: string; preview: Preview }[] {
  const alerts = [
    ...Object.entries(SAMPLE_ALERTS).map(([name, make]) => ({ name, alert: make() })),
    { name: 'channel-disabled', alert: sampleChannelIncident() },
    { name: 'incident.opened.awkward', alert: awkwardAlert() },
  ]
  return ChannelKind.options
    .filter(kind => !LEFT_OUT.has(kind))
    .flatMap(kind =>
      alerts.map(({ name, alert }) => ({
        name: `${kind}.${name}`,
        preview: previewMessage(kind, {
          alert,
          branding: {},
          brandName: 'Backstop',
          publicUrl: 'https://backstop.example.com',
          unsubscribeUrl: 'https://api.backstop.example.com/v1/unsubscribe/preview',
        }),
      })),
    )
}
