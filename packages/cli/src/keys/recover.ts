import { type ApiKeyDocument, type AuditDocument, newId } from '@backstop/contracts'
import { apiKeyDocument, generateApiKey } from '@backstop/kit/api-key'
import { type AuditKeys, signRow } from '@backstop/kit/audit'
import type { Secret } from '@backstop/kit/config'
import { asUnavailable, type Mongo } from '@backstop/kit/mongo'

/** Days until the recovered key expires by default, as for keys that the management API creates by default. */
export const RECOVERED_KEY_DAYS = 90
const DAY_MS = 86_400_000

/**
 * Creates an admin key for all projects, with its audit row. It requires only write access to the database, because whoever has it could
 * also store a key without an audit row.
 * @param operator who runs the command, by their own statement or that of the operating system
 * @param keys sign the audit row; undefined without SECRET_KEYS: the verification of the audit then counts the row as unsigned
 * @param validDays null for a key that does not expire
 * @throws AppError `unavailable`
 */
export function recoverAdminKey(
  { client, db }: Mongo,
  operator: string,
  keys: AuditKeys | undefined,
  validDays: number | null,
): Promise<{ readonly key: Secret; readonly keyId: string }> {
  return asUnavailable(async () => {
    // MongoDB's time, because the management API checks expiry with it and this machine's clock may be wrong.
    const { localTime } = await db.command({ hello: 1 })
    const now: Date = localTime
    const key = generateApiKey()
    const document: ApiKeyDocument = {
      ...apiKeyDocument(key, {
        id: newId('apiKey'),
        name: `Recovered by ${operator}`.slice(0, 200),
        scopes: ['admin'],
        projectId: null,
        createdAt: now,
        createdBy: null,
        expiresAt: validDays === null ? null : new Date(now.getTime() + validDays * DAY_MS),
      }),
      // The management API alerts people about it.
      unreported_recovery: operator,
    }
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
      operator,
    }
    await client.withSession(session =>
      session.withTransaction(async () => {
        await db.collection<ApiKeyDocument>('api_keys').insertOne(document, { session })
        await db
          .collection<AuditDocument>('audit')
          .insertOne(keys === undefined ? row : signRow(row, keys), { session })
      }),
    )
    return { key, keyId: document._id }
  })
}
