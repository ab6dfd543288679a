/**
 * `npm run freeze -w @backstop/contracts` writes the next version of each changed message schema to schemas/, and the bytes of new
 * samples. Frozen files are never changed, because installations have registered the schemas and store messages of them. A schema that
 * cannot read older messages is refused.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { registrySchema, schemaText } from '../src/json-schema.ts'
import { MESSAGES, type MessageName } from '../src/messages/index.ts'
import { incompatibilities } from '../src/schema-compatibility.ts'
import { frame } from '../src/wire-format.ts'
import { SAMPLES_FOLDER, SCHEMAS_FOLDER, samples, schemaVersions } from './frozen.ts'

/** An arbitrary id: each registry assigns its own, and the tests of samples ignore it. */
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
    process.stderr.write(
      `${name}: the changed schema cannot read messages of earlier versions\n${reasons.join('\n')}\n`,
    )
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
