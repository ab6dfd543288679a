import { type DryRunLine, DryRunRequest } from '@backstop/contracts'
import { Secret } from '@backstop/kit/config'
import { AppError } from '@backstop/kit/errors'
import { maskSecrets } from '@backstop/kit/logger'
import { connectMongo } from '@backstop/kit/mongo'
import { mongoTls } from '@backstop/kit/service'
import { dryRun } from './dry-run.ts'
import { createMongoReplaySource } from './mongo-source.ts'

/**
 * Runs the dry run of a request and writes its progress and differences.
 * @param request JSON text of a DryRunRequest
 * @returns the last line
 */
export async function answerRequest(
  request: string,
  now: () => number,
  write: (line: DryRunLine) => void,
): Promise<DryRunLine> {
  try {
    return await runRequest(DryRunRequest.parse(JSON.parse(request)), now, write)
  } catch (error) {
    // The driver's message may contain the credentials of the URL.
    if (error instanceof AppError && error.code === 'unavailable') return { type: 'database_unavailable' }
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
    return { type: 'failed', error: maskSecrets(text) }
  }
}

async function runRequest(
  request: DryRunRequest,
  now: () => number,
  write: (line: DryRunLine) => void,
): Promise<DryRunLine> {
  const { from, to, project_id: projectId, connection_id: connectionId } = request
  const url = new Secret(request.mongo_url)
  const secret = (text: string | undefined) => (text === undefined ? undefined : new Secret(text))
  const tls = mongoTls({
    MONGO_CA: secret(request.mongo_ca),
    MONGO_CERT: secret(request.mongo_cert),
    MONGO_KEY: secret(request.mongo_key),
  })
  const mongo = connectMongo({ url, dbName: request.database, appName: 'backstop-dry-run', tls })
  try {
    const source = createMongoReplaySource(mongo)
    if (connectionId !== undefined && !(await source.connections([connectionId])).has(connectionId)) {
      return { type: 'connection_not_found' }
    }
    const summary = await dryRun({
      source,
      window: { from, to, projectId, connectionId },
      recheckDelayMs: request.recheck_delay_ms,
      outOfBand: request.out_of_band,
      now,
      onDifference: difference => write({ type: 'difference', ...difference }),
      onProgress: progress => write({ type: 'progress', ...progress }),
    })
    return { type: 'summary', ...summary }
  } finally {
    await mongo.stop()
  }
}
