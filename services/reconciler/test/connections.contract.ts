import type { ConnectionDocument } from '@backstop/contracts'
import { T0 } from '@backstop/verdict/test'
import { beforeEach, describe, expect, test } from 'vitest'
import { type ConnectionReader, type NamedConnection, NOT_KEPT } from '../src/connections/connection-reader.ts'
import type { ReconcilerStores } from '../src/stores.ts'
import { connectionOf } from './connection-of.ts'

const KEY = { sealed: 'k', fingerprint: 'f', created_at: new Date(T0), expires_at: null }

/** The reader of connections. `putConnection` writes a connection and its project as admin-api does. */
export interface ConnectionsUnderTest extends Pick<ReconcilerStores, 'connections'> {
  /** @param projectName null if the project is not stored */
  putConnection(connection: ConnectionDocument, projectName: string | null): Promise<void>
}

/** The tests for every implementation of the reader of connections. Each test gets an empty store. */
export function connectionContract(name: string, open: () => Promise<ConnectionsUnderTest>): void {
  describe(`connections, ${name}`, () => {
    let connections: ConnectionReader
    let putConnection: ConnectionsUnderTest['putConnection']
    beforeEach(async () => {
      ;({ connections, putConnection } = await open())
    })

    test('a connection is read with the name of its project', async () => {
      await putConnection(
        connectionOf('con_named', { name: 'Shop', project_id: 'prj_named', read_key: KEY }),
        'Webshop',
      )
      await putConnection(
        connectionOf('con_other', { name: 'Tickets', project_id: 'prj_other', read_key: KEY }),
        'Concerts',
      )
      await putConnection(connectionOf('con_bare', { name: 'Old shop', project_id: 'prj_none', read_key: KEY }), null)
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

    test('a change of a connection or of the name of its project counts for the next batch, also for a connection that was read before', async () => {
      const before = connectionOf('con_changed', { name: 'Shop', project_id: 'prj_changed' })
      await putConnection(before, 'Webshop')
      await putConnection(connectionOf('con_same', { name: 'Tickets', project_id: 'prj_same' }), 'Concerts')
      const read = async () =>
        [...(await connections.byIds(['con_changed', 'con_same'])).values()]
          .map(({ name, status, project_name }) => [name, status, project_name])
          .sort()
      const same = ['Tickets', 'active', 'Concerts']
      expect(await read()).toEqual([['Shop', 'active', 'Webshop'], same])
      expect(await read()).toEqual([['Shop', 'active', 'Webshop'], same])
      const changed = { ...before, name: 'Market', status: 'deleted', version: before.version + 1 } as const
      await putConnection(changed, 'Online')
      expect(await read()).toEqual([['Market', 'deleted', 'Online'], same])
      // A repeated request to create it.
      await putConnection({ ...changed, name: 'Stall', updated_at: new Date(T0) }, 'Online')
      expect(await read()).toEqual([['Stall', 'deleted', 'Online'], same])
      // A backup that was restored.
      await putConnection(before, 'Online')
      expect(await read()).toEqual([['Shop', 'active', 'Online'], same])
    })

    test('a connection has the settings of its connected accounts only if they are asked for', async () => {
      const accounts = [{ account: 'acct_1', out_of_band: 'ignore' as const }]
      await putConnection(connectionOf('con_platform', { accounts, read_key: KEY }), null)
      await putConnection(connectionOf('con_plain', {}), null)
      const ids = ['con_platform', 'con_plain']
      const settings = [...(await connections.withAccounts(ids)).values()].map(one => [one._id, one.accounts])
      expect(Object.fromEntries(settings)).toEqual({ con_platform: accounts, con_plain: [] })
      const plain = [...(await connections.byIds(ids)).values(), ...(await connections.readable())]
      expect(plain).toHaveLength(3)
      expect(plain.flatMap(one => Object.keys(one).filter(field => NOT_KEPT.includes(field as never)))).toEqual([])
    })
  })
}
