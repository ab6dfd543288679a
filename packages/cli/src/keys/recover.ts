import { type ApiKeyDocument, type AuditDocument, newId } from '@backstop/contracts'
import { apiKeyDocument, asUnavailable, generateApiKey, type Mongo, type Secret } from '@backstop/kit'

/** Days until the recovered key expires by default, as for keys that the management API creates by default. */
export const RECOVERED_KEY_DAYS = 90
const DAY_MS = 86_400_000

/**
 * Creates an admin key for all projects, with its audit row. It requires only write access to the database, because whoever has it could
 * also store a key without an audit row.
 * @param operator user and machine that run the command
 * @param validDays null for a key that does not expire
 * @throws AppError `unavailable`
 */
export function recoverAdminKey(
  { client, db }: Mongo,
  operator: string,
  validDays: number | null,
): Promise<{ readonly key: Secret; readonly keyId: string }> {
  return asUnavailable(async () => {
    // MongoDB's time, because the management API checks expiry with it and this machine's clock may be wrong.
    const { localTime } = await db.command({ hello: 1 })
    const now: Date = localTime
    const key = generateApiKey()
    const document = apiKeyDocument(key, {
      id: newId('apiKey'),
      name: `Recovered by ${operator}`.slice(0, 200),
      scopes: ['admin'],
      projectId: null,
      createdAt: now,
      createdBy: null,
      expiresAt: validDays === null ? null : new Date(now.getTime() + validDays * DAY_MS),
    })
    const row: AuditDocument = {
      _id: newId('audit'),
      at: now,
      key_id: 'recovery',
      action: 'api_key.recover',
      target: document._id,
      project_id: null,
      request_id: null,
      address: null,
      unchained: true,
    }
    await client.withSession(session =>
      session.withTransaction(async () => {
        await db.collection<ApiKeyDocument>('api_keys').insertOne(document, { session })
        await db.collection<AuditDocument>('audit').insertOne(row, { session })
      }),
    )
    return { key, keyId: document._id }
  })
}
