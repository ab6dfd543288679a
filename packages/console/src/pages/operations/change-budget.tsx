import type { ShownBudget } from '@backstop/client'
import { Button, Group, Modal, Stack, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { api } from '../../api/client.ts'
import { decimalAmount, formatMoney, parseMoney } from '../../format/money.ts'
import { isLostRace } from '../../parts/is-lost-race.ts'
import { LostRace } from '../../parts/lost-race.tsx'
import { Problem } from '../../parts/problem.tsx'

/** Changes the name and the cap of a budget. */
export function ChangeBudget({ budget }: { budget: ShownBudget }) {
  const [isOpen, setIsOpen] = useState(false)
  return (
    <>
      <Button variant="default" onClick={() => setIsOpen(true)}>
        Change
      </Button>
      <Modal opened={isOpen} onClose={() => setIsOpen(false)} title="Change the budget">
        <ChangeForm budget={budget} onDone={() => setIsOpen(false)} />
      </Modal>
    </>
  )
}

function ChangeForm({ budget, onDone }: { budget: ShownBudget; onDone: () => void }) {
  const queryClient = useQueryClient()
  const { budget_id, currency } = budget
  const [name, setName] = useState(budget.name)
  const [cap, setCap] = useState(decimalAmount(budget.cap, currency))
  // The version that the form shows: a newer one of somebody else must not be overwritten unseen.
  const [version, setVersion] = useState(budget.version)
  const amount = parseMoney(cap, currency)
  const change = useMutation({
    mutationFn: (ifVersion: number) =>
      api.budgets.change(
        budget_id,
        { name: name.trim(), ...(amount === undefined ? {} : { cap: amount }) },
        { ifVersion },
      ),
    onSuccess(changed) {
      queryClient.setQueryData(['budgets', 'one', budget_id], changed)
      void queryClient.invalidateQueries({ queryKey: ['budgets', 'list'] })
      onDone()
    },
    onError: error =>
      isLostRace(error) && void queryClient.invalidateQueries({ queryKey: ['budgets', 'one', budget_id] }),
  })
  const isRight = name.trim() !== '' && amount !== undefined
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (isRight && !change.isPending) change.mutate(version)
  }
  if (change.error !== null && isLostRace(change.error)) {
    const show = (shown: { name: string; cap: number }) => (
      <>
        <bdi>{shown.name}</bdi>, {formatMoney(shown.cap, currency)}
      </>
    )
    return (
      <LostRace
        theirs={show(budget)}
        yours={show({ name, cap: amount ?? budget.cap })}
        onKeepTheirs={onDone}
        onApplyYours={() => {
          setVersion(budget.version)
          change.mutate(budget.version)
        }}
      />
    )
  }
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <TextInput
          label="Name"
          maxLength={200}
          data-autofocus
          value={name}
          onChange={event => setName(event.currentTarget.value)}
        />
        <TextInput
          label={`Cap in ${currency.toUpperCase()}`}
          inputMode="decimal"
          value={cap}
          onChange={event => setCap(event.currentTarget.value)}
          error={amount === undefined ? `Enter an amount in ${currency.toUpperCase()}` : undefined}
        />
        <p className="dim">A lower cap does not change earlier operations. It applies to the next request.</p>
        {change.error !== null && <Problem error={change.error} what="The budget was not changed" />}
        <Group justify="flex-end">
          <Button type="submit" disabled={!isRight} loading={change.isPending}>
            Save
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
