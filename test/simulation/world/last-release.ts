import type { MessageName } from '@backstop/contracts'
import { releaseBefore, releasedSchema } from '@backstop/contracts/test'
import { AppError } from '@backstop/kit/errors'
import type { MessageCodec } from '@backstop/kit/registry'
import { createFixedCodec } from '@backstop/kit/test'
import * as z from 'zod'

const LAST_RELEASE = releaseBefore()
const schemas = new Map<string, z.ZodType>()

/** A codec of the last release: a process with it neither writes nor reads the fields that only this version knows. */
export function codecOfLastRelease(): MessageCodec {
  const codec = createFixedCodec()
  return {
    schemaId: codec.schemaId,
    // The last release writes no message that it could not read, so such a message stands for none of its own.
    encode: (name, message) => codec.encode(name, withoutNewFields(name, message) ?? message),
    async decode(name, bytes) {
      const known = withoutNewFields(name, await codec.decode(name, bytes))
      if (known === undefined) throw new AppError('message_invalid', `${LAST_RELEASE} does not know this ${name}`)
      return known
    },
  }
}

/** The message without fields that a release does not know. Undefined if it could not read it. */
export function withoutNewFields<T>(name: MessageName, message: T, release = LAST_RELEASE): T | undefined {
  const schema = schemaOf(name, release)
  const known = structuredClone(message)
  for (;;) {
    const { error } = schema.safeParse(known)
    if (error === undefined) return known
    const fields = unknownFields(error.issues)
    if (fields === undefined) return undefined
    for (const path of fields) remove(known, path)
  }
}

function schemaOf(name: MessageName, release: string): z.ZodType {
  const key = `${release}/${name}`
  const found = schemas.get(key) ?? z.fromJSONSchema(releasedSchema(release, name) as never)
  schemas.set(key, found)
  return found
}

type Path = readonly PropertyKey[]

/** The paths of unknown fields. Undefined if something else is wrong. Of the forms of a union, the first in which nothing else is. */
function unknownFields(issues: readonly z.core.$ZodIssue[]): readonly Path[] | undefined {
  const fields: Path[] = []
  for (const issue of issues) {
    const found = fieldsOf(issue)
    if (found === undefined) return undefined
    fields.push(...found.map(path => [...issue.path, ...path]))
  }
  return fields
}

function fieldsOf(issue: z.core.$ZodIssue): readonly Path[] | undefined {
  if (issue.code === 'unrecognized_keys') return issue.keys.map(key => [key])
  if (issue.code !== 'invalid_union') return undefined
  return issue.errors.map(unknownFields).find(found => found !== undefined)
}

function remove(value: unknown, path: Path): void {
  const owner = path.slice(0, -1).reduce((inner, key) => (inner as Record<PropertyKey, unknown>)[key], value)
  delete (owner as Record<PropertyKey, unknown>)[path.at(-1) ?? '']
}
