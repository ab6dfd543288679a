import type { ConnectionDocument } from '@backstop/contracts'
import { T0 } from '@backstop/verdict/test'
import { beforeEach, describe, expect, test } from 'vitest'
import type { ConnectionReader, NamedConnection } from '../src/connections/connection-reader.ts'
import type { ReconcilerStores } from '../src/stores.ts'
import { connectionOf } from './connection-of.ts'

const KEY = { sealed: 'k', fingerprint: 'f', created_at: new Date(T0), expires_at: null }

/** The reader of connections. `addConnection` writes a connection and its project as admin-api does. */
export interface ConnectionsUnderTest extends Pick<ReconcilerStores, 'connections'> {
  /** @param projectName null if the project is not stored */
  addConnection(connection: ConnectionDocument, projectName: string | null): Promise<void>
}

/** The tests for every implementation of the reader of connections. Each test gets an empty store. */
export function connectionContract(name: string, open: () => Promise<ConnectionsUnderTest>): void {
  describe(`connections, ${name}`, () => {
    let connections: ConnectionReader
    let addConnection: ConnectionsUnderTest['addConnection']
    beforeEach(async () => {
      ;({ connections, addConnection } = await open())
    })

    test('a connection is read with the name of its project', async () => {
      await addConnection(
        connectionOf('con_named', { name: 'Shop', project_id: 'prj_named', read_key: KEY }),
        'Webshop',
      )
      await addConnection(
        connectionOf('con_other', { name: 'Tickets', project_id: 'prj_other', read_key: KEY }),
        'Concerts',
      )
      await addConnection(connectionOf('con_bare', { name: 'Old shop', project_id: 'prj_none', read_key: KEY }), null)
      const read = await connections.byIds(['con_named', 'con_bare', 'con_other', 'con_none'])
      const names = (list: Iterable<NamedConnection>) =>
        [...list].map(({ name, project_name }) => [name, project_name]).sort()
      const expected = [
        ['Old shop', null],
        ['Shop', 'Webshop'],
        ['Tickets', 'Concerts'],
      ]
      expect(names(read.values())).toEqual(expected)
      expect(names(await connections.readable())).toEqual(expected)
      expect(await connections.projectName('prj_named')).toBe('Webshop')
      expect(await connections.projectName('prj_none')).toBe(null)
    })

    test('a connection has the settings of its connected accounts only if they are asked for', async () => {
      const accounts = [{ account: 'acct_1', out_of_band: 'ignore' as const }]
      await addConnection(connectionOf('con_platform', { accounts, read_key: KEY }), null)
      await addConnection(connectionOf('con_plain', {}), null)
      const ids = ['con_platform', 'con_plain']
      const settings = [...(await connections.withAccounts(ids)).values()].map(one => [one._id, one.accounts])
      expect(Object.fromEntries(settings)).toEqual({ con_platform: accounts, con_plain: [] })
      const plain = [...(await connections.byIds(ids)).values(), ...(await connections.readable())]
      expect(plain.map(one => 'accounts' in one)).toEqual([false, false, false])
    })
  })
}
