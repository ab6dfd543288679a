import { z } from 'zod'
import { helpful, UnixTime } from '../../object-fields.ts'

/** The fields by which the biller orders the states of an object. */
export const Version = z.object({
  /** Milliseconds since the epoch. */
  resource_version: helpful(z.int().min(0)),
  updated_at: helpful(UnixTime),
})

/** The version of a state, in milliseconds since the epoch; null if the object has none. */
export function versionOf(object: z.infer<typeof Version>): number | null {
  return object.resource_version ?? object.updated_at
}
