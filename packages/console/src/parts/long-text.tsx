/** Text of another system as it is: its markup is shown and never interpreted. */
export function LongText({
  text,
  className,
  dir,
}: {
  text: string
  className: string | undefined
  dir?: 'auto' | 'ltr'
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a long text scrolls, also by the keyboard
    <pre className={className} dir={dir} tabIndex={0}>
      {text}
    </pre>
  )
}
