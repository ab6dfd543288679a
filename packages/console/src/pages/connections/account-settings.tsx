import type { Connection } from '@backstop/client'
import { Button, Group, Select, TextInput } from '@mantine/core'
import { useInputState } from '@mantine/hooks'
import { api, refresh, useWrite } from '../../api/client.ts'
import { storeConnection } from '../../api/connections.ts'
import { handleSubmit } from '../../parts/form/index.ts'
import { Problem } from '../../parts/page/index.ts'
import { accountFact } from '../accounts/account-link.tsx'
import { labelOfMode, MODES, type Mode } from './words.ts'

interface Props {
  connection: Connection
  mayChange: boolean
}

/** The settings of connected accounts, each saved at once. */
export function AccountSettings({ connection, mayChange }: Props) {
  const { project_id, connection_id, accounts, out_of_band, version } = connection
  const { error, isPending, mutate } = useWrite(
    (change: { account: string; out_of_band: Mode | null }) =>
      api.connections.change(project_id, connection_id, { accounts: [change] }, { ifVersion: version }),
    { onDone: storeConnection, onError: () => refresh('connections') },
  )
  const choices = [{ value: '', label: `As the connection (${labelOfMode(out_of_band)})` }, ...MODES]
  return (
    <>
      {accounts.length > 0 && (
        <ul className="lines">
          {accounts.map(({ account, out_of_band: own }) => (
            <li key={account}>
              {accountFact(account)}{' '}
              {mayChange ? (
                <Select
                  aria-label={`When the account ${account} alerts`}
                  title="out_of_band"
                  data={choices}
                  value={own}
                  disabled={isPending}
                  onChange={mode => mutate({ account, out_of_band: (mode || null) as Mode | null })}
                />
              ) : (
                labelOfMode(own)
              )}
            </li>
          ))}
        </ul>
      )}
      {mayChange && <NewSetting isPending={isPending} onAdd={mutate} />}
      <Problem error={error} what="The setting was not saved" />
    </>
  )
}

function NewSetting({
  isPending,
  onAdd,
}: {
  isPending: boolean
  onAdd: (change: { account: string; out_of_band: Mode }) => void
}) {
  const [account, setAccount] = useInputState('')
  const [mode, setMode] = useInputState<string | null>('ignore')
  const id = account.trim()
  return (
    <form
      onSubmit={handleSubmit(() => {
        onAdd({ account: id, out_of_band: mode as Mode })
        setAccount('')
      })}
    >
      <Group align="end" gap="sm">
        <TextInput label="Connected account" placeholder="acct_…" value={account} onChange={setAccount} />
        <Select label="When does it alert?" data={MODES} value={mode} onChange={setMode} allowDeselect={false} />
        <Button type="submit" variant="default" disabled={id === '' || isPending}>
          Set for this account
        </Button>
      </Group>
    </form>
  )
}
