//! Records of a CSV text (RFC 4180), as strict as k6 reads them: blank lines do not count, every record has as many fields as
//! the first, and a quote stands only around a whole field.

/// Reads record after record.
#[derive(Debug)]
pub struct Records<T> {
    text: T,
    at: usize,
    /// Lines read so far.
    line: usize,
    delimiter: u8,
    fields: Option<usize>,
}

impl<T: AsRef<[u8]>> Records<T> {
    pub fn new(text: T, delimiter: u8) -> Self {
        Self { text, at: 0, line: 0, delimiter, fields: None }
    }

    /// The next record; none at the end. The error says line and column, both counted from 1.
    pub fn next(&mut self) -> Result<Option<Vec<String>>, String> {
        let Some(start) = self.skip_blank_lines() else {
            return Ok(None);
        };
        let first_line = self.line + 1;
        let mut record = Vec::new();
        self.at = start;
        loop {
            let (field, ends) = self.field()?;
            record.push(String::from_utf8_lossy(&field).into_owned());
            if ends {
                break;
            }
        }
        self.line += 1;
        let wanted = *self.fields.get_or_insert(record.len());
        if record.len() != wanted {
            return Err(format!(
                "record on line {first_line}: wrong number of fields, {} instead of {wanted}",
                record.len()
            ));
        }
        Ok(Some(record))
    }

    fn skip_blank_lines(&mut self) -> Option<usize> {
        let text = self.text.as_ref();
        let mut at = self.at;
        loop {
            match text.get(at..)? {
                [] => return None,
                [b'\n', ..] => at += 1,
                [b'\r', b'\n', ..] => at += 2,
                _ => return Some(at),
            }
            self.line += 1;
        }
    }

    /// One field, and whether it was the record's last.
    fn field(&mut self) -> Result<(Vec<u8>, bool), String> {
        if self.text.as_ref().get(self.at) == Some(&b'"') {
            self.quoted_field()
        } else {
            self.plain_field()
        }
    }

    fn plain_field(&mut self) -> Result<(Vec<u8>, bool), String> {
        let text = self.text.as_ref();
        let rest = &text[self.at..];
        let length = rest
            .iter()
            .position(|byte| *byte == self.delimiter || *byte == b'\n')
            .unwrap_or(rest.len());
        if let Some(quote) = rest[..length].iter().position(|byte| *byte == b'"') {
            return Err(self.misplaced(self.at + quote, "bare \" in a field without quotes"));
        }
        let ends = rest.get(length) != Some(&self.delimiter);
        let field = match &rest[..length] {
            [field @ .., b'\r'] if ends => field,
            field => field,
        };
        let field = field.to_vec();
        self.at += (length + 1).min(rest.len());
        Ok((field, ends))
    }

    fn quoted_field(&mut self) -> Result<(Vec<u8>, bool), String> {
        let mut field = Vec::new();
        let mut at = self.at + 1;
        loop {
            let text = self.text.as_ref();
            match text.get(at..).unwrap_or_default() {
                [b'"', b'"', ..] => {
                    field.push(b'"');
                    at += 2;
                }
                [b'"', byte, ..] if *byte == self.delimiter => {
                    self.at = at + 2;
                    return Ok((field, false));
                }
                [b'"'] | [b'"', b'\r'] | [b'"', b'\n', ..] | [b'"', b'\r', b'\n', ..] => {
                    let rest = &text[at..];
                    self.at = at
                        + rest
                            .iter()
                            .position(|byte| *byte == b'\n')
                            .map_or(rest.len(), |end| end + 1);
                    return Ok((field, true));
                }
                [] | [b'"', ..] => {
                    return Err(self.misplaced(at, "extraneous or missing \" in a quoted field"))
                }
                [b'\r', b'\n', ..] => at += 1,
                [byte, ..] => {
                    self.line += usize::from(*byte == b'\n');
                    field.push(*byte);
                    at += 1;
                }
            }
        }
    }

    fn misplaced(&self, at: usize, what: &str) -> String {
        let line_start = self.text.as_ref()[..at]
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |newline| newline + 1);
        format!("line {}, column {}: {what}", self.line + 1, at - line_start + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<Vec<String>>, String> {
        let mut records = Records::new(text.as_bytes(), b',');
        let mut all = Vec::new();
        while let Some(record) = records.next()? {
            all.push(record);
        }
        Ok(all)
    }

    #[test]
    fn fields_quotes_and_line_ends_are_read_as_rfc_4180_states_them() {
        for (text, wanted) in [
            ("", vec![]),
            ("a,b", vec![vec!["a", "b"]]),
            ("a,b\n", vec![vec!["a", "b"]]),
            ("a,b\r\n1,\r\n", vec![vec!["a", "b"], vec!["1", ""]]),
            ("\n\na\n\n\nb\n\n", vec![vec!["a"], vec!["b"]]),
            ("\"a,1\",\"say \"\"hi\"\"\"\n", vec![vec!["a,1", "say \"hi\""]]),
            ("\"two\r\nlines\",x\ny,z", vec![vec!["two\nlines", "x"], vec!["y", "z"]]),
            ("\"\",\"\"", vec![vec!["", ""]]),
            (" a , b ", vec![vec![" a ", " b "]]),
            ("größe,日本", vec![vec!["größe", "日本"]]),
        ] {
            assert_eq!(read(text).unwrap(), wanted, "{text:?}");
        }
    }

    #[test]
    fn mistakes_are_named_with_their_place() {
        for (text, wanted) in [
            ("a,b\n1\n", "record on line 2: wrong number of fields, 1 instead of 2"),
            ("a,\"b\"c\n", "line 1, column 5: extraneous or missing"),
            ("a\nb\"c", "line 2, column 2: bare"),
            ("a\n\"open", "extraneous or missing"),
        ] {
            let what = read(text).unwrap_err();
            assert!(what.contains(wanted), "{what}");
        }
    }
}
