import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { frame } from '../src/kafka/wire-format.ts'
import { MESSAGES, type MessageName } from '../src/messages/index.ts'
import { type JsonSchema, registrySchema, schemaText } from '../src/messages/json-schema.ts'
import { ALERT_REFERENCE, CONTRACTS_FOLDER, NEXT, releasedSchema, releases, samples } from './frozen.ts'
import { incompatibilities } from './schema-compatibility.ts'

/** An arbitrary id: each registry assigns its own, and the tests of samples ignore it. */
const SAMPLE_SCHEMA_ID = 1
const NAMES = Object.keys(MESSAGES) as MessageName[]

/** Why a schema of today cannot read messages of a release, one line per reason. Empty if each can. */
export function broken(name: MessageName, folder = CONTRACTS_FOLDER): string[] {
  return releases(folder).flatMap(release => {
    const released = releasedSchema(release, name, folder)
    if (released === undefined) return []
    return incompatibilities(released, registrySchema(name)).map(reason => `${name}, against ${release}: ${reason}`)
  })
}

/**
 * Keeps the schemas of today as those of a release, and gives the samples in `samples/next` to it, with their bytes. Files of a release
 * are never changed, because installations have registered the schemas and store messages of them.
 * @throws Error if the version is none of a release, if the release is frozen already, or if a schema cannot read messages of an earlier release
 */
export function freeze(release: string, folder = CONTRACTS_FOLDER): void {
  if (release.endsWith('-dev')) throw new Error(`${release} is no release: run npm run release -- set-version first`)
  const schemas = join(folder, 'schemas', release)
  if (existsSync(schemas)) throw new Error(`The schemas of ${release} are frozen already`)
  const reasons = NAMES.flatMap(name => broken(name, folder))
  if (reasons.length > 0) throw new Error(`Messages of earlier releases cannot be read\n${reasons.join('\n')}`)
  mkdirSync(schemas)
  for (const name of NAMES) {
    const text = JSON.stringify(JSON.parse(schemaText(onFile(name))), null, 2)
    writeFileSync(join(schemas, `${name}.json`), `${text}\n`)
    for (const { release: writer, title, message } of samples(name, folder)) {
      if (writer !== NEXT) continue
      const bytes = frame(SAMPLE_SCHEMA_ID, JSON.stringify(message))
      writeFileSync(join(folder, 'samples', NEXT, name, `${title}.bin`), bytes)
    }
  }
  const next = join(folder, 'samples', NEXT)
  if (existsSync(next)) renameSync(next, join(folder, 'samples', release))
}

function onFile(name: MessageName): JsonSchema {
  const schema = registrySchema(name)
  if (name !== 'delivery-request') return schema
  return { ...schema, properties: { ...(schema.properties as object), alert: ALERT_REFERENCE } }
}
