import type { ConnectionDocument } from '@backstop/contracts'
import type { Db } from 'mongodb'
import { asUnavailable } from '../mongo/mongo.ts'
import type { StoredSecret } from '../secret-box/judge-secrets.ts'

/** Connections that are read to judge the keys. They are the newest, whose key is in use. */
const SAMPLE = 100

/** The secrets of the newest connections. @throws AppError `unavailable` */
export async function readConnectionSecrets(db: Db): Promise<StoredSecret[]> {
  const connections = await asUnavailable(() =>
    db
      .collection<ConnectionDocument>('connections')
      .find({ status: { $ne: 'deleted' } }, { projection: { project_id: 1, inbound_secrets: 1, read_key: 1 } })
      .sort({ _id: -1 })
      .limit(SAMPLE)
      .toArray(),
  )
  return connections.flatMap(({ _id: id, project_id: projectId, inbound_secrets = [], read_key }) => {
    const place = { collection: 'connections', id, projectId } as const
    return [
      ...inbound_secrets.map(({ sealed }) => ({ sealed, context: { ...place, field: 'inbound_secret' } })),
      ...(read_key ? [{ sealed: read_key.sealed, context: { ...place, field: 'read_key' } }] : []),
    ]
  })
}
