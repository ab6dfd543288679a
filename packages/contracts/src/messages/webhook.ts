import { z } from 'zod'
import { Alert } from './alert.ts'
import type { JsonSchema } from './json-schema.ts'

/** Every event that a webhook may receive. Programs get each action of a storm, and no reports about the storm. */
export const WEBHOOK_EVENTS: readonly Alert['event'][] = Alert.options
  .map(option => option.shape.event.value)
  .filter(event => event !== 'storm.reported')

/**
 * The JSON Schema (2020-12) of one event's document, for receivers. It is open, because a document may gain fields at any time. No field
 * is removed or changes its meaning.
 */
export function webhookSchema(event: Alert['event']): JsonSchema {
  const option = Alert.options.find(({ shape }) => shape.event.value === event)
  if (option === undefined) throw new Error(`There is no alert ${event}`)
  const { shape } = option
  const document = z.object({
    id: shape.alert_id.describe('Id of the alert: the same for every channel'),
    event: shape.event,
    created_at: shape.created_at.describe('When the alert was raised'),
    project_id: shape.project_id,
    data: shape.data,
  })
  return z.toJSONSchema(document, {
    target: 'draft-2020-12',
    io: 'output',
    override({ jsonSchema }) {
      delete jsonSchema.additionalProperties
      // The format is enough for readers; zod's pattern only adds a check of leap years.
      if (jsonSchema.format === 'date-time' || jsonSchema.format === 'date') delete jsonSchema.pattern
    },
  })
}
