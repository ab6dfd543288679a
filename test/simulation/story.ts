import type { Truth } from './actors/truth.ts'
import { type Trace, timeOf } from './world/trace.ts'

/** What people read about a run, in the order of time: accidents, what was done at the providers, and the alerts that arrived. */
export function storyOf(trace: Trace, truth: Truth, startMs: number): string[] {
  const deeds = truth.deeds.map(
    ({ atMs, title, ref }) => `${timeOf(atMs - startMs)} at the provider: ${title} (${ref})`,
  )
  const grounds = truth.deeds.flatMap(({ grounds, title }) =>
    grounds.map(({ reason, begins }) => `${timeOf(begins.fromMs - startMs)} ${reason}: ${title}`),
  )
  const alerts = truth.received.map(({ atMs, channel, webhookId, body, isAnswered }) => {
    const { event, data } = JSON.parse(body) as { event: string; data: { action?: { provider_ref: string | null } } }
    const lost = isAnswered ? '' : ', its answer was lost'
    return `${timeOf(atMs - startMs)} ${channel} gets ${webhookId} ${event} ${data.action?.provider_ref ?? ''}${lost}`
  })
  return [...trace.story, ...deeds, ...grounds, ...alerts].sort()
}
