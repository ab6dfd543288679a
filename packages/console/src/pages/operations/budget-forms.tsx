import type { NewBudget as NewBudgetBody, ShownBudget } from '@backstop/client'
import { Group, Select, TextInput } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { api, queryClient, refresh, useWrite } from '../../api/client.ts'
import { useConnectionNames } from '../../api/connections.ts'
import { budgetQuery } from '../../api/operations.ts'
import { decimalAmount, formatMoney, parseMoney } from '../../format/money.ts'
import { optionsOf } from '../../parts/filters/index.ts'
import { Form, isLostRace, LostRace, useFields } from '../../parts/form/index.ts'
import { useProjectId } from '../../parts/page/index.ts'
import { INTERVALS } from './words.ts'

const INTERVAL_OPTIONS = Object.entries(INTERVALS).map(([value, label]) => ({ value, label }))
const ALL = 'all'
const EMPTY = { name: '', currency: 'EUR', cap: '', interval: 'month' as NewBudgetBody['interval'], connection: ALL }

export function NewBudget() {
  const project_id = useProjectId()
  const names = useConnectionNames(project_id)
  const navigate = useNavigate()
  const { fields, field } = useFields(EMPTY)
  const create = useWrite((body: NewBudgetBody) => api.budgets.create(body), {
    refresh: ['budgets'],
    onDone: ({ budget_id: id }) =>
      void navigate({ to: '/p/$project/budgets/$id', params: { project: project_id, id } }),
  })
  const { name, currency, cap, interval, connection } = fields
  const code = currency.trim().toLowerCase()
  const amount = parseMoney(cap, code)
  const isCurrency = /^[a-z]{3}$/.test(code)
  const isWrong = cap !== '' && isCurrency && amount === undefined
  const submit = () => {
    const where = connection === ALL ? {} : { connection_id: connection }
    create.mutate({ project_id, name: name.trim(), currency: code, cap: amount ?? 0, interval, ...where })
  }
  return (
    <Form
      write={create}
      failed="The budget was not created"
      button="Create budget"
      isComplete={name.trim() !== '' && isCurrency && amount !== undefined}
      onSubmit={submit}
    >
      <TextInput label="Name" placeholder="Refunds of the month" data-autofocus maxLength={200} {...field('name')} />
      <Group grow align="flex-start">
        <TextInput
          label="Cap"
          placeholder="500.00"
          inputMode="decimal"
          error={isWrong ? `Enter an amount in ${code.toUpperCase()}` : undefined}
          {...field('cap')}
        />
        <TextInput
          label="Currency"
          maxLength={3}
          error={currency !== '' && !isCurrency ? 'Enter a code, such as EUR' : undefined}
          {...field('currency')}
        />
      </Group>
      <Select label="Period (UTC)" data={INTERVAL_OPTIONS} {...field('interval')} />
      <Select
        label="Counts operations of"
        data={[{ value: ALL, label: 'All connections' }, ...optionsOf(names)]}
        {...field('connection')}
      />
      <p className="dim">It counts operations that are requested from now on, in this currency.</p>
    </Form>
  )
}

/** Changes the name and the cap of a budget. */
export function ChangeBudget({ budget, onDone }: { budget: ShownBudget; onDone: () => void }) {
  const { budget_id, currency } = budget
  const { fields, field } = useFields({ name: budget.name, cap: decimalAmount(budget.cap, currency) })
  // The version that the form shows: a newer one of somebody else must not be overwritten unseen.
  const [version, setVersion] = useState(budget.version)
  const name = fields.name.trim()
  const cap = parseMoney(fields.cap, currency)
  const { queryKey } = budgetQuery(budget_id)
  const change = useWrite(
    (ifVersion: number) =>
      api.budgets.change(budget_id, { name, ...(cap === undefined ? {} : { cap }) }, { ifVersion }),
    {
      refresh: [['budgets', 'list']],
      onDone(changed) {
        queryClient.setQueryData(queryKey, changed)
        onDone()
      },
      onError: error => void (isLostRace(error) && refresh(queryKey)),
    },
  )
  if (isLostRace(change.error)) {
    const show = (shown: { name: string; cap: number }) => (
      <>
        <bdi>{shown.name}</bdi>, {formatMoney(shown.cap, currency)}
      </>
    )
    return (
      <LostRace
        theirs={show(budget)}
        yours={show({ name: fields.name, cap: cap ?? budget.cap })}
        onKeepTheirs={onDone}
        onApplyYours={() => {
          setVersion(budget.version)
          change.mutate(budget.version)
        }}
      />
    )
  }
  return (
    <Form
      write={change}
      failed="The budget was not changed"
      button="Save"
      isComplete={name !== '' && cap !== undefined}
      onSubmit={() => change.mutate(version)}
    >
      <TextInput label="Name" maxLength={200} data-autofocus {...field('name')} />
      <TextInput
        label={`Cap in ${currency.toUpperCase()}`}
        inputMode="decimal"
        error={cap === undefined ? `Enter an amount in ${currency.toUpperCase()}` : undefined}
        {...field('cap')}
      />
      <p className="dim">A lower cap does not change earlier operations. It applies to the next request.</p>
    </Form>
  )
}
