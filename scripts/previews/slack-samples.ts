import {
  digestMessage,
  SAMPLE_ALERTS,
  type SlackMessage,
  sampleChannelIncident,
  slackMessage,
  slackWithoutBlocks,
} from '@backstop/channels'
import { awkwardAlert } from './awkward-alert.ts'

/** Every kind of Slack message: each alert, a digest, and the text that replaces rejected blocks. */
export function slackSamples(): { name: string; message: SlackMessage }[] {
  const render = (alert: ReturnType<typeof sampleChannelIncident>, publicUrl: string | null = CONSOLE_URL) =>
    slackMessage(alert, publicUrl, 'Backstop')
  const alerts = Object.values(SAMPLE_ALERTS).map(make => make())
  const flood = Array.from({ length: 3 }, () => alerts).flat()
  return [
    ...Object.entries(SAMPLE_ALERTS).map(([event, make]) => ({ name: event, message: render(make()) })),
    { name: 'channel-disabled', message: render(sampleChannelIncident()) },
    { name: 'incident.opened.awkward', message: render(awkwardAlert(), null) },
    {
      name: 'incident.opened.without-blocks',
      message: slackWithoutBlocks(SAMPLE_ALERTS['incident.opened'](), CONSOLE_URL),
    },
    { name: 'digest', message: digestMessage(flood, CONSOLE_URL, 'Backstop') },
  ]
}

const CONSOLE_URL = 'https://backstop.example.com'
