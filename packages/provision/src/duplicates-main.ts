/**
 * Resolves documents that a unique index would refuse, so that the deploy job can create the index. With `--dry-run` it only lists them.
 * docs/replay.md says which document stays. Exit code 1 if a person must decide about some of them, 78 for invalid settings.
 */
import { parseArgs } from 'node:util'
import { AppError } from '@backstop/kit/errors'
import { connectMongo } from '@backstop/kit/mongo'
import { createSecretBox } from '@backstop/kit/secret-box'
import { checkCredentials, mongoTls } from '@backstop/kit/service'
import { readDuplicatesConfig } from './config.ts'
import { resolveDuplicates } from './duplicates/resolve-duplicates.ts'

const EXIT_CONFIG = 78

try {
  const { values } = parseArgs({ options: { 'dry-run': { type: 'boolean', default: false } } })
  process.exitCode = await run(values['dry-run'])
} catch (error) {
  const isConfig = error instanceof AppError && error.code === 'config_invalid'
  process.stderr.write(`${error instanceof AppError ? error.message : error instanceof Error ? error.stack : error}\n`)
  process.exitCode = isConfig ? EXIT_CONFIG : 1
}

async function run(isDryRun: boolean): Promise<number> {
  const config = readDuplicatesConfig(process.env)
  await checkCredentials({ ...config, KAFKA_BROKERS: [] })
  const mongo = connectMongo({
    url: config.MONGO_URL,
    dbName: config.MONGO_DB,
    appName: 'backstop-duplicates',
    tls: mongoTls(config),
    answerWithinMs: 0,
  })
  const keys = config.SECRET_KEYS && createSecretBox(config.SECRET_KEYS)
  let groups = 0
  let undecided = 0
  try {
    await resolveDuplicates(mongo, {
      isDryRun,
      keys,
      report({ duplicates: { collection, values }, keptId, otherIds, why }) {
        groups += 1
        if (keptId === undefined) undecided += 1
        const kept = keptId === undefined ? 'nothing was changed' : `${keptId} ${isDryRun ? 'would keep' : 'keeps'} it`
        process.stdout.write(`${collection} ${JSON.stringify(values)}: ${kept}, not ${otherIds.join(', ')} (${why})\n`)
      },
    })
  } finally {
    await mongo.stop()
  }
  const done = isDryRun ? 'Nothing was changed.' : 'Run the deploy job now: it creates the indexes.'
  process.stdout.write(groups === 0 ? 'No duplicates\n' : `${groups} sets of duplicates. ${done}\n`)
  return undecided > 0 ? 1 : 0
}
