import { Button, Popover, Stack, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { decimalAmount, formatMoney, parseMoney } from '../format/money.ts'
import classes from './filters.module.css'

interface Amounts {
  currency?: string | undefined
  /** Minor units, as text of the URL. */
  min_amount?: string | undefined
  max_amount?: string | undefined
}

/** A filter by currency and by amounts of that currency: `Amount: EUR 10.00 to 50.00`. */
export function AmountFilter({ value, onChange }: { value: Amounts; onChange: (value: Amounts) => void }) {
  const [isOpen, setIsOpen] = useState(false)
  const label = describe(value)
  return (
    <Popover opened={isOpen} onChange={setIsOpen} position="bottom-start" trapFocus returnFocus>
      <Popover.Target>
        <Button
          variant="default"
          className={classes.choice}
          data-is-set={label !== undefined || undefined}
          onClick={() => setIsOpen(open => !open)}
        >
          {label ?? 'Amount'}
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <AmountForm
          value={value}
          onApply={next => {
            onChange(next)
            setIsOpen(false)
          }}
        />
      </Popover.Dropdown>
    </Popover>
  )
}

function AmountForm({ value, onApply }: { value: Amounts; onApply: (value: Amounts) => void }) {
  const [currency, setCurrency] = useState(value.currency?.toUpperCase() ?? '')
  const [min, setMin] = useState(majorUnits(value.min_amount, value.currency))
  const [max, setMax] = useState(majorUnits(value.max_amount, value.currency))
  const code = currency.trim().toLowerCase()
  const isCode = /^[a-z]{3}$/.test(code)
  const isAmount = (text: string) => text.trim() === '' || (isCode && parseMoney(text, code) !== undefined)
  const needsCurrency = (min.trim() !== '' || max.trim() !== '') && !isCode
  const isRight = (code === '' || isCode) && !needsCurrency && isAmount(min) && isAmount(max)
  const apply = (event: FormEvent) => {
    event.preventDefault()
    if (!isRight) return
    onApply({
      currency: code === '' ? undefined : code,
      min_amount: parseMoney(min, code)?.toString(),
      max_amount: parseMoney(max, code)?.toString(),
    })
  }
  const wrong = (text: string) => (needsCurrency || isAmount(text) ? undefined : `Enter an amount in ${currency}`)
  return (
    <form onSubmit={apply}>
      <Stack gap="sm" w={220}>
        <TextInput
          label="Currency"
          placeholder="EUR"
          maxLength={3}
          value={currency}
          onChange={event => setCurrency(event.currentTarget.value)}
          error={needsCurrency ? 'Enter a currency, such as EUR' : undefined}
        />
        <TextInput
          label="At least"
          value={min}
          onChange={event => setMin(event.currentTarget.value)}
          error={wrong(min)}
        />
        <TextInput
          label="At most"
          value={max}
          onChange={event => setMax(event.currentTarget.value)}
          error={wrong(max)}
        />
        <Button type="submit" disabled={!isRight}>
          Apply
        </Button>
        <Button
          variant="default"
          onClick={() => onApply({ currency: undefined, min_amount: undefined, max_amount: undefined })}
        >
          Any amount
        </Button>
      </Stack>
    </form>
  )
}

/** Minor units of the URL as the text that a person would type. */
function majorUnits(amount: string | undefined, currency: string | undefined): string {
  if (amount === undefined || currency === undefined) return ''
  return decimalAmount(Number(amount), currency)
}

function describe({ currency, min_amount, max_amount }: Amounts): string | undefined {
  if (currency === undefined) return undefined
  const money = (amount: string) => formatMoney(Number(amount), currency)
  if (min_amount === undefined && max_amount === undefined) return `Currency: ${currency.toUpperCase()}`
  if (max_amount === undefined) return `Amount: from ${money(min_amount as string)}`
  if (min_amount === undefined) return `Amount: up to ${money(max_amount)}`
  return `Amount: ${money(min_amount)} to ${money(max_amount)}`
}
