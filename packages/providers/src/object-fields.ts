/**
 * Schemas for fields of provider objects, which providers change at any time. Fields that decide a verdict are strict, so that
 * an unexpected object is dead-lettered and people see it. Fields that only help count as absent if they are unexpected, so
 * that they hide no refund.
 */
import { objectIdentity, objectReference, ProviderId, type ProviderKind } from '@backstop/contracts'
import { z } from 'zod'
import type { Normalised, Observed } from './sighting.ts'

/** The result of normalising an object: never a hint. */
export type Meaning = Exclude<Normalised, { kind: 'hint' }>

/** What the meaning of an object depends on beside the object. */
export interface SightingContext {
  readonly projectId: string
  /** The provider's site, if ids are unique in a site only. */
  readonly site: string | null
  /** The time of its event or of the read, in milliseconds since the epoch; null if unknown. */
  readonly shownAt: number | null
}

/** Normalises objects of one type. */
export type ObjectMeaning<T extends SightingContext = SightingContext> = (
  context: T,
  object: Readonly<Record<string, unknown>>,
) => Meaning

/** An id, or the object itself if the account expands it. */
export const Id = z.union([ProviderId, z.object({ id: ProviderId }).transform(object => object.id)])

/** Seconds since the epoch, as milliseconds. Up to the year 9999: a larger number was given in milliseconds. */
export const UnixTime = z
  .int()
  .min(0)
  .max(253_402_300_799)
  .transform(seconds => seconds * 1000)

/** RFC 3339, with up to microseconds, as milliseconds since the epoch. */
export const TextTime = z.iso.datetime({ offset: true }).transform(text => Date.parse(text))

/** ISO 4217 in any case, as lower case. */
export const CurrencyCode = z
  .string()
  .regex(/^[A-Za-z]{3}$/)
  .transform(code => code.toLowerCase())

/** An amount in minor units, which are whole units for a currency without decimals. */
export const MinorUnits = z.int().min(0)

/** A field that only helps: null if it is absent or unexpected. */
export function helpful<Output>(schema: z.ZodType<Output>) {
  return schema.nullable().catch(null).default(null)
}

/** Parses an object by its schema. An object that does not match is malformed, with the place of the mismatch. */
export function reading<Output>(
  type: string,
  schema: z.ZodType<Output>,
  object: unknown,
  then: (parsed: Output) => Meaning,
): Meaning {
  const parsed = schema.safeParse(object)
  if (parsed.success) return then(parsed.data)
  const issue = parsed.error.issues[0]
  return { kind: 'malformed', reason: `${[type, ...(issue?.path ?? [])].join('.')}: ${issue?.message ?? 'not valid'}` }
}

/**
 * The identity and references of an object: project, provider and id. Account and mode are not part of them, because ids are
 * unique across both, and a refund that two connections show is one refund.
 * @param belongsTo ids of the payment or subscription, first the one that people see; empty values are skipped
 */
export function nameObject(
  context: SightingContext,
  provider: ProviderKind,
  type: string,
  id: string,
  belongsTo: readonly (string | null | undefined)[],
): Observed {
  const objectIds = [...new Set(belongsTo.filter(other => typeof other === 'string'))]
  const site = context.site ?? undefined
  return {
    provider,
    identity: objectIdentity(context.projectId, provider, site, type, id),
    refs: [...new Set([...objectIds, id])].map(name => objectReference(context.projectId, provider, site, name)),
    objectIds,
    subject: objectIds[0] ?? id,
  }
}
