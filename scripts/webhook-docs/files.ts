import { resolve } from 'node:path'
import { webhookDocument } from '@backstop/channels'
import { Alert, WEBHOOK_EVENTS, webhookSchema } from '@backstop/contracts'
import { samples } from '../../packages/contracts/test/frozen.ts'

export const FOLDER = resolve(import.meta.dirname, '../../docs/webhooks')

/** The files of docs/webhooks by name: for each event the schema of its document, and an example. */
export function webhookDocs(): Map<string, string> {
  const files = WEBHOOK_EVENTS.flatMap(event => [
    [`${event}.schema.json`, { title: event, ...webhookSchema(event) }] as const,
    [`${event}.example.json`, webhookDocument(sampleOf(event))] as const,
  ])
  return new Map(files.map(([name, content]) => [name, `${JSON.stringify(content, null, 2)}\n`]))
}

/** The newest sample alert of an event (packages/contracts/samples has at least one of every kind). */
function sampleOf(event: Alert['event']): Alert {
  const name = event.replace('.', '-')
  const sample = samples('alert')
    .filter(({ title }) => title.replace(/^v\d+-/, '') === name)
    .toSorted((a, b) => a.title.localeCompare(b.title, 'en', { numeric: true }))
    .at(-1)
  if (sample === undefined) throw new Error(`There is no sample ${name} of an alert`)
  return Alert.parse(sample.message)
}
