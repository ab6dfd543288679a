/**
 * `npm run freeze -w @backstop/contracts`: after a message's schema was changed, writes its next version to schemas/, and
 * the bytes of samples that have none yet. What was frozen before is never touched: installations have registered it, and
 * messages of it lie in their topics. A change that an older message would not survive is refused.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { registrySchema, schemaText } from '../src/json-schema.ts'
import { MESSAGES, type MessageName } from '../src/messages/index.ts'
import { incompatibilities } from '../src/schema-compatibility.ts'
import { frame } from '../src/wire-format.ts'
import { SAMPLES_FOLDER, SCHEMAS_FOLDER, samples, schemaVersions } from './frozen.ts'

/** Ids are the registry's, and each has its own; readers of samples do not look at it. */
const SAMPLE_SCHEMA_ID = 1

for (const name of Object.keys(MESSAGES) as MessageName[]) {
  freezeSchema(name)
  freezeSamples(name)
}

function freezeSchema(name: MessageName): void {
  const versions = schemaVersions(name)
  const today = registrySchema(name)
  const latest = versions.at(-1)
  if (latest !== undefined && schemaText(latest.schema) === schemaText(today)) return
  const reasons = versions.flatMap(({ version, schema }) =>
    incompatibilities(schema, today).map(reason => `  against version ${version}: ${reason}`),
  )
  if (reasons.length > 0) {
    process.stderr.write(`${name}: messages that are already written would no longer be read\n${reasons.join('\n')}\n`)
    process.exitCode = 1
    return
  }
  const file = `${name}.v${(latest?.version ?? 0) + 1}.json`
  writeFileSync(join(SCHEMAS_FOLDER, file), `${JSON.stringify(JSON.parse(schemaText(today)), null, 2)}\n`)
  process.stdout.write(`schemas/${file} written\n`)
}

function freezeSamples(name: MessageName): void {
  for (const { title, message, bytes } of samples(name)) {
    if (bytes !== undefined) continue
    writeFileSync(join(SAMPLES_FOLDER, name, `${title}.bin`), frame(SAMPLE_SCHEMA_ID, JSON.stringify(message)))
    process.stdout.write(`samples/${name}/${title}.bin written\n`)
  }
}
