/** What the zod schema of a setting says about it. */
import { z } from 'zod'

export interface SettingFacts {
  readonly meaning: string
  /** As the environment variable would have it; undefined without a default. */
  readonly defaultText: string | undefined
  readonly isRequired: boolean
  readonly isSecret: boolean
  readonly unit: string
  readonly range: { readonly minimum: number; readonly maximum: number } | undefined
}

/** @throws if the setting has no description */
export function describeSetting(name: string, schema: z.ZodType): SettingFacts {
  const layers = layersOf(schema)
  const metadata = Object.assign({}, ...layers.toReversed().map(layer => z.globalRegistry.get(layer) ?? {}))
  if (typeof metadata.description !== 'string') throw new Error(`${name} has no description`)
  return {
    meaning: metadata.description,
    defaultText: defaultOf(layers),
    isRequired: !schema.safeParse(undefined).success,
    isSecret: metadata.secret === true,
    unit: unitOf(name),
    range: rangeOf(metadata),
  }
}

/** The schema and the schemas inside it, from the outside to the inside. */
function layersOf(schema: z.core.$ZodType): z.core.$ZodType[] {
  if (schema instanceof z.ZodPipe) return [schema, ...layersOf(schema.def.in)]
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodOptional) {
    return [schema, ...layersOf(schema.def.innerType)]
  }
  return [schema]
}

function defaultOf(layers: readonly z.core.$ZodType[]): string | undefined {
  const layer = layers.find(one => one instanceof z.ZodDefault)
  if (layer === undefined) return undefined
  const text = String(layer.def.defaultValue)
  return text === '' ? undefined : text
}

function rangeOf({ minimum, maximum }: Record<string, unknown>): SettingFacts['range'] {
  return typeof minimum === 'number' && typeof maximum === 'number' ? { minimum, maximum } : undefined
}

function unitOf(name: string): string {
  if (name.endsWith('_MS')) return 'milliseconds'
  if (name.endsWith('_BYTES')) return 'bytes'
  if (name.endsWith('_PER_S')) return 'events per second'
  return name.startsWith('RATE_LIMIT_PER_') ? 'requests per minute' : ''
}
